// SPDX-License-Identifier: MIT
// Joins calls with the device ops they enqueued, groups rows by thread and stream, finishes the
// losses.
#include <fmt/format.h>

#include <algorithm>

#include "common/format.h"
#include "trace/indexes.h"
#include "trace/load/assembly.h"

namespace headway::trace::load_detail {
namespace {

/// Calls that may enqueue work, by correlation id, for one process.
struct CallsByCorrelation {
  std::vector<std::pair<std::uint64_t, CallId>> sorted;
  std::size_t next = 0;  ///< ops mostly come in the order of their calls

  CallId find(std::uint64_t correlation) {
    if (next < sorted.size() && sorted[next].first == correlation) return sorted[next++].second;
    auto found = std::lower_bound(sorted.begin(), sorted.end(), correlation,
                                  [](const auto& a, std::uint64_t b) { return a.first < b; });
    if (found == sorted.end() || found->first != correlation) return CallId::none();
    next = static_cast<std::size_t>(found - sorted.begin()) + 1;
    return found->second;
  }
};

void join_calls_and_ops(Assembly& assembly) {
  Trace& trace = assembly.trace;
  Calls& calls = trace.calls;
  DeviceOps& ops = trace.device_ops;
  calls.op.assign(calls.size(), DeviceOpId::none());
  std::vector<CallsByCorrelation> of_process(trace.processes.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls.correlation[i] == 0) continue;
    of_process[trace.threads[calls.thread[i].value].process.value].sorted.emplace_back(
        calls.correlation[i], CallId::from(i));
  }
  for (CallsByCorrelation& index : of_process) {
    // The ids are nearly sorted already, because they are given in the order of the calls.
    if (!std::is_sorted(index.sorted.begin(), index.sorted.end()))
      std::sort(index.sorted.begin(), index.sorted.end());
    auto last = index.sorted.begin();
    for (auto it = index.sorted.begin(); it != index.sorted.end(); ++it) {
      if (it != index.sorted.begin() && last->first == it->first) {
        count(assembly.losses, Loss::kDuplicateCorrelation);
        *last = *it;
      } else {
        if (it != index.sorted.begin()) ++last;
        *last = *it;
      }
    }
    if (!index.sorted.empty()) index.sorted.erase(last + 1, index.sorted.end());
  }
  for (std::size_t i = 0; i < ops.size(); ++i) {
    std::uint32_t correlation = ops.call[i].value;  // see load_device_ops
    CallId call =
        correlation == 0
            ? CallId::none()
            : of_process[trace.streams[ops.stream[i].value].process.value].find(correlation);
    ops.call[i] = call;
    if (!call.valid()) {
      count(assembly.losses, Loss::kOrphanDeviceOp);
      continue;
    }
    if (!calls.op[call.value].valid()) calls.op[call.value] = DeviceOpId::from(i);
    if (!calls.stream[call.value].valid()) calls.stream[call.value] = ops.stream[i];
    if (ops.start[i] < calls.start[call.value]) count(assembly.losses, Loss::kOpBeforeLaunch);
  }
}

/// Events that were left out on purpose are not counted as separate losses: one loss notes the
/// stretch.
void note_stretch(Assembly& assembly) {
  if (!assembly.stretch) return;
  for (Loss loss : {Loss::kOrphanDeviceOp, Loss::kDanglingRow})
    assembly.losses[static_cast<std::size_t>(loss)] = 0;
  assembly.trace.losses.push_back(
      {"loaded_in_part", "doubt",
       fmt::format("Only {} to {} of the recording was loaded: figures cover this interval, and "
                   "events across its ends may lack their other half",
                   format_duration(assembly.stretch->begin - TimeNs{0}),
                   format_duration(assembly.stretch->end - TimeNs{0})),
       1});
}

void finish_losses(Assembly& assembly) {
  Trace& trace = assembly.trace;
  note_stretch(assembly);
  for (const LossDeclaration& declaration : loss_declarations()) {
    std::int64_t count = assembly.losses[static_cast<std::size_t>(declaration.loss)];
    if (count) {
      trace.losses.push_back({std::string(declaration.name),
                              std::string(severity_name(declaration.severity)),
                              std::string(declaration.text), count});
    }
  }
  auto rank = [](const LossCount& loss) {
    return loss.severity == "loss" ? 0 : loss.severity == "doubt" ? 1 : 2;
  };
  std::stable_sort(trace.losses.begin(), trace.losses.end(),
                   [&](const LossCount& a, const LossCount& b) {
                     return std::pair(rank(a), std::string_view(a.name)) <
                            std::pair(rank(b), std::string_view(b.name));
                   });
  // One row per counter: the file counts per process, but a reader wants the sum.
  std::vector<LossCount> merged;
  for (LossCount& loss : trace.losses) {
    if (!merged.empty() && merged.back().name == loss.name) {
      merged.back().count += loss.count;
    } else {
      merged.push_back(std::move(loss));
    }
  }
  trace.losses = std::move(merged);
}

}  // namespace

void link(Assembly& assembly) {
  Trace& trace = assembly.trace;
  // The two tasks are independent: neither reads what the other writes.
  run_parallel(
      2, [&](std::size_t i) { i == 0 ? join_calls_and_ops(assembly) : build_indexes(trace); },
      assembly.threads);
  for (const auto* ends :
       {&trace.ranges.end, &trace.device_ops.end, &trace.calls.end, &trace.io.end}) {
    for (TimeNs end : *ends) trace.end = std::max(trace.end, end);
  }
  finish_losses(assembly);
}

}  // namespace headway::trace::load_detail
