// SPDX-License-Identifier: MIT
#include "analyzer/whatif/step_exchange.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace headway::analyzer {

using namespace trace;

namespace {

/// The transfers of `all` (by start) that run on a device in the window, by stream.
std::map<StreamId, std::vector<Transfer>> transfers_within(const Trace& trace,
                                                           const std::vector<Transfer>& all,
                                                           DeviceId device, Interval window) {
  const DeviceOps& ops = trace.device_ops;
  std::map<StreamId, std::vector<Transfer>> of_stream;
  auto one = std::ranges::lower_bound(all, window.begin, {},
                                      [&](const Transfer& t) { return ops.start[t.op.value]; });
  for (; one != all.end() && ops.start[one->op.value] < window.end; ++one) {
    const StreamId stream = ops.stream[one->op.value];
    if (trace.streams[stream.value].device == device) of_stream[stream].push_back(*one);
  }
  return of_stream;
}

}  // namespace

void for_each_step_exchange(const Predictor& predictor, const DevicePartition& partition,
                            const std::vector<std::vector<Transfer>>& all,
                            const std::function<void(const StepStages&, Interval)>& visit) {
  for (const DeviceStep& step : partition.steps) {
    std::map<StreamId, StepStages> of_stream;
    for (const std::vector<Transfer>& stage : all)
      for (auto& [stream, its] :
           transfers_within(predictor.trace(), stage, partition.device, step.interval))
        of_stream[stream].push_back(std::move(its));
    for (const auto& [stream, stages] : of_stream) {
      const auto sizes = [](const std::vector<Transfer>& its) { return its.size(); };
      if (stages.size() == all.size() &&
          std::ranges::count(stages, stages.front().size(), sizes) == std::ssize(stages))
        visit(stages, step.interval);
    }
  }
}

std::vector<std::vector<DeviceOpId>> companions(const Predictor& predictor, StreamId stream,
                                                Interval step, std::size_t transfers) {
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  const auto all = trace.ops_of_stream[stream];
  std::map<std::string_view, std::vector<DeviceOpId>> by_name;
  auto op = std::ranges::lower_bound(all, step.begin, {},
                                     [&](DeviceOpId one) { return ops.start[one.value]; });
  for (; op != all.end() && ops.start[op->value] < step.end; ++op) {
    if (ops.kind[op->value] == DeviceOpKind::kKernel &&
        predictor.kernels().of(*op).family != KernelFamily::kCommunication)
      by_name[name_without_number(trace, *op)].push_back(*op);
  }
  std::vector<std::vector<DeviceOpId>> result;
  for (auto& [name, its] : by_name)
    if (its.size() == transfers) result.push_back(std::move(its));
  return result;
}

std::vector<CallId> waits_before(const Trace& trace, DeviceOpId transfer) {
  std::vector<CallId> waits;
  const CallId launch = trace.device_ops.call[transfer.value];
  if (!launch.valid()) return waits;
  const auto calls = trace.calls_of_thread[trace.calls.thread[launch.value]];
  const StreamId stream = trace.device_ops.stream[transfer.value];
  auto call = std::ranges::lower_bound(calls, trace.calls.start[launch.value], {},
                                       [&](CallId one) { return trace.calls.start[one.value]; });
  while (call != calls.begin()) {
    --call;
    const DeviceCallKind kind = trace.calls.kind[call->value];
    const DeviceOpId op = trace.calls.op[call->value];
    if (kind == DeviceCallKind::kEventRecord || kind == DeviceCallKind::kStreamWaitEvent) {
      waits.push_back(*call);
    } else if (!op.valid() || trace.device_ops.stream[op.value] != stream || !waits.empty() ||
               trace.device_ops.kind[op.value] == DeviceOpKind::kCommunication) {
      break;
    }
  }
  return waits;
}

}  // namespace headway::analyzer
