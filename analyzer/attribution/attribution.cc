// SPDX-License-Identifier: MIT
#include "analyzer/attribution/attribution.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "analyzer/attribution/own_class.h"
#include "common/parallel.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// The innermost range open on the calling thread at the start of each call: one sweep per thread
/// over both.
std::vector<RangeId> ranges_of_calls(const Trace& trace) {
  std::vector<RangeId> range_of(trace.calls.size(), RangeId::none());
  const Ranges& ranges = trace.ranges;
  std::vector<RangeId> open;
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    auto thread_ranges = trace.ranges_of_thread[ThreadId{t}];
    open.clear();
    std::size_t next = 0;
    for (CallId call : trace.calls_of_thread[ThreadId{t}]) {
      TimeNs at = trace.calls.start[call.value];
      for (; next < thread_ranges.size() && ranges.start[thread_ranges[next].value] <= at; ++next) {
        RangeId id = thread_ranges[next];
        if (ranges.is(id, Ranges::kMark) || ranges.is(id, Ranges::kStartEnd)) continue;
        while (!open.empty() && ranges.end[open.back().value] <= ranges.start[id.value])
          open.pop_back();
        open.push_back(id);
      }
      while (!open.empty() && ranges.end[open.back().value] <= at) open.pop_back();
      if (!open.empty()) range_of[call.value] = open.back();
    }
  }
  return range_of;
}

/// The model ops in the order of first use, each once.
class OpTable {
 public:
  OpTable(const Trace& trace, const RangeNames& names, const ModulePaths& modules, Attribution& out)
      : trace_(trace), names_(names), modules_(modules), out_(out) {
    out_.ops.push_back({"(unattributed)", "", Phase::kNone, {}, ""});
    last_of_base_.resize(names.base_count());
  }

  OpId of_graph(ProcessId process, std::int64_t op) {
    if (op < 0 || op >= kMostKnown) return find_graph_op(process, op);
    if (process.value >= of_graph_op_.size()) of_graph_op_.resize(process.value + std::size_t{1});
    std::vector<OpId>& known = of_graph_op_[process.value];
    auto at = static_cast<std::size_t>(op);
    if (at >= known.size()) known.resize(at + 1, kUnseen);
    if (known[at] == kUnseen) known[at] = find_graph_op(process, op);
    return known[at];
  }

  OpId of_context(const RangeContext& context, Phase phase) {
    if (!context.op.valid()) return without_op(phase);
    Key key{names_[context.op].base, context.module, phase};
    // An op is mostly launched from the same place as the time before.
    auto& [last_key, last_op] = last_of_base_[key.base];
    if (last_op.valid() && last_key == key) return last_op;
    auto [slot, is_new] = by_name_.try_emplace(key, OpId::from(out_.ops.size()));
    if (is_new) {
      out_.ops.push_back(
          {std::string(names_.base(key.base)), "", phase, {}, modules_[context.module]});
    }
    last_key = key;
    return last_op = slot->second;
  }

 private:
  struct Key {
    std::uint32_t base = 0;
    std::uint32_t module = 0;
    Phase phase = Phase::kNone;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t mixed = (std::uint64_t{key.base} << 32 | key.module) * 0x9e3779b97f4a7c15ull;
      return static_cast<std::size_t>((mixed ^ mixed >> 29) +
                                      static_cast<std::uint64_t>(key.phase));
    }
  };

  /// Work that is tagged with its phase and nothing else.
  OpId without_op(Phase phase) {
    if (phase == Phase::kNone) return OpId{0};
    OpId& known = without_op_[phase];
    if (!known.valid()) {
      known = OpId::from(out_.ops.size());
      out_.ops.push_back({"(no op)", "", phase, {}, ""});
    }
    return known;
  }

  OpId find_graph_op(ProcessId process, std::int64_t op) {
    auto found = trace_.graph_op_index.find({process, op});
    if (found == trace_.graph_op_index.end()) return OpId::none();
    of_graph_.resize(trace_.graph_ops.size());
    OpId& known = of_graph_[found->second.value];
    if (!known.valid()) {
      known = OpId::from(out_.ops.size());
      const GraphOp& graph = trace_.graph_ops[found->second.value];
      out_.ops.push_back({graph.name, graph.type, graph.phase, found->second, ""});
    }
    return known;
  }

  const Trace& trace_;
  const RangeNames& names_;
  const ModulePaths& modules_;
  Attribution& out_;
  static constexpr std::int64_t kMostKnown = 1'000'000;
  static constexpr OpId kUnseen{UINT32_MAX - 1};
  std::vector<std::vector<OpId>> of_graph_op_;  ///< by process and op id
  std::vector<OpId> of_graph_;                  ///< by GraphOpId
  std::vector<std::pair<Key, OpId>> last_of_base_;
  std::map<Phase, OpId> without_op_;
  std::unordered_map<Key, OpId, Hash> by_name_;
};

}  // namespace

TimeClass own_class(const DeviceOps& ops, std::size_t i, const KernelNames& kernels,
                    bool communication, Phase phase) {
  switch (ops.kind[i]) {
    case DeviceOpKind::kCopyHostToDevice:
      return TimeClass::kH2d;
    case DeviceOpKind::kCopyPeer:  // between the devices of a run: communication by copy engine
      return TimeClass::kCommTransfer;
    case DeviceOpKind::kCopyDeviceToHost:
    case DeviceOpKind::kCopyDeviceToDevice:
    case DeviceOpKind::kCopyHostToHost:
      return TimeClass::kD2hOther;
    case DeviceOpKind::kKernel:
    case DeviceOpKind::kMemset:
    case DeviceOpKind::kCommunication:
      break;
  }
  if (communication) return TimeClass::kCommTransfer;
  if (phase == Phase::kUpdate) return TimeClass::kOptimizer;
  MathUnit unit = ops.math_unit[i];
  if (unit == MathUnit::kUnknown) unit = kernels.of(ops.name[i]).math_unit;
  return unit == MathUnit::kTensor ? TimeClass::kComputeTensor : TimeClass::kComputeOther;
}

Attribution attribute(const Trace& trace) {
  KernelNames kernels(trace);
  return attribute(trace, RangeNames(trace), kernels, CommunicationOps(trace, kernels));
}

Attribution attribute(const Trace& trace, const RangeNames& names, const KernelNames& kernels,
                      const CommunicationOps& communication) {
  Attribution result;
  ModulePaths modules;
  std::vector<RangeId> range_of_call;
  run_parallel(2, [&](std::size_t part) {
    if (part == 0) {
      result.contexts = range_contexts(trace, names, modules);
    } else {
      range_of_call = ranges_of_calls(trace);
    }
  });
  OpTable table(trace, names, modules, result);
  const DeviceOps& ops = trace.device_ops;
  result.op_of.resize(ops.size());
  result.range_of.resize(ops.size());
  result.phase_of.resize(ops.size());
  result.class_of.resize(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    RangeId range = ops.call[i].valid() ? range_of_call[ops.call[i].value] : RangeId::none();
    RangeContext context = range.valid() ? result.contexts[range.value] : RangeContext{};
    Phase phase = ops.phase[i] != Phase::kNone ? ops.phase[i] : context.phase;
    OpId op = OpId::none();
    if (!trace.graph_ops.empty()) {
      std::int64_t graph_op = ops.op[i];
      for (RangeId r = range; graph_op < 0 && r.valid(); r = trace.ranges.parent[r.value]) {
        if (const trace::RangeInfo* info = trace.info(r)) graph_op = info->op;
      }
      if (graph_op >= 0) op = table.of_graph(trace.streams[ops.stream[i].value].process, graph_op);
    }
    result.op_of[i] = op.valid() ? op : table.of_context(context, phase);
    result.range_of[i] = range;
    result.phase_of[i] = phase;
    result.class_of[i] = own_class(ops, i, kernels, communication[DeviceOpId::from(i)], phase);
  }
  return result;
}

RangeId innermost_range(const Trace& trace, ThreadId thread, TimeNs t) {
  auto rows = trace.ranges_of_thread[thread];
  auto after = std::upper_bound(rows.begin(), rows.end(), t, [&](TimeNs time, RangeId id) {
    return time < trace.ranges.start[id.value];
  });
  if (after == rows.begin()) return RangeId::none();
  // The last range that began is the innermost, or an inner one that has ended: then one of its
  // ancestors is.
  RangeId candidate = *(after - 1);
  while (candidate.valid() &&
         (trace.ranges.end[candidate.value] <= t || trace.ranges.is(candidate, Ranges::kMark))) {
    candidate = trace.ranges.parent[candidate.value];
  }
  return candidate;
}

}  // namespace headway::analyzer
