// SPDX-License-Identifier: MIT
#include "analyzer/attribution/attribution.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace headway::analyzer {
namespace {

using namespace trace;

/// The innermost range open on the calling thread at the start of each call: one sweep per thread
/// over both.
std::vector<RangeId> ranges_of_calls(const Trace& trace) {
  std::vector<RangeId> range_of(trace.calls.size(), RangeId::none());
  const Ranges& ranges = trace.ranges;
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    auto thread_ranges = trace.ranges_of_thread[ThreadId{t}];
    std::vector<RangeId> open;
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

/// PyTorch's emit_nvtx appends ", op_id = 7" or ", seq = 7": the same op with another number is the
/// same op.
std::string_view without_numbering(std::string_view name) {
  for (std::string_view mark : {", op_id", ", seq"}) {
    std::size_t at = name.find(mark);
    if (at != std::string_view::npos) name = name.substr(0, at);
  }
  return name;
}

Phase phase_of_name(std::string_view name) {
  auto has = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  if (has("Optimizer.step") || has("optimizer") || has("optim_step")) return Phase::kUpdate;
  if (has("Backward") || has("backward")) return Phase::kBackward;
  if (has("forward")) return Phase::kForward;
  return Phase::kNone;
}

/// Ops of the model as they turn up, each once.
class OpTable {
 public:
  OpTable(const Trace& trace, Attribution& out) : trace_(trace), out_(out) {
    out_.ops.push_back({"(unattributed)", "", Phase::kNone, {}});
  }

  OpId of_graph(ProcessId process, std::int64_t op) {
    auto found = trace_.graph_op_index.find({process, op});
    if (found == trace_.graph_op_index.end()) return OpId::none();
    auto [slot, is_new] = by_graph_.try_emplace(found->second, OpId::from(out_.ops.size()));
    if (is_new) {
      const GraphOp& graph = trace_.graph_ops[found->second.value];
      out_.ops.push_back({graph.name, graph.type, graph.phase, found->second});
    }
    return slot->second;
  }

  OpId of_range(RangeId range, Phase phase) {
    StringId name = trace_.ranges.name[range.value];
    auto [known, unseen] = by_string_.try_emplace({name, phase}, OpId::none());
    if (!unseen) return known->second;
    std::string text(without_numbering(trace_.strings[name]));
    auto [slot, is_new] = by_name_.try_emplace({text, phase}, OpId::from(out_.ops.size()));
    if (is_new) out_.ops.push_back({text, "", phase, {}});
    return known->second = slot->second;
  }

 private:
  const Trace& trace_;
  Attribution& out_;
  std::map<GraphOpId, OpId> by_graph_;
  std::map<std::pair<StringId, Phase>, OpId> by_string_;
  std::map<std::pair<std::string, Phase>, OpId> by_name_;
};

/// What the enclosing ranges say, looked up once per range.
struct RangeFacts {
  std::int64_t op = conventions::kAbsent;
  Phase phase = Phase::kNone;
};

RangeFacts facts_of(const Trace& trace, RangeId range) {
  RangeFacts facts;
  for (RangeId r = range; r.valid(); r = trace.ranges.parent[r.value]) {
    const trace::RangeInfo* info = trace.info(r);
    if (info) {
      if (facts.op < 0) facts.op = info->op;
      if (facts.phase == Phase::kNone) facts.phase = info->phase;
    }
    if (facts.phase == Phase::kNone)
      facts.phase = phase_of_name(trace.strings[trace.ranges.name[r.value]]);
    if (facts.op >= 0 && facts.phase != Phase::kNone) break;
  }
  return facts;
}

}  // namespace

Attribution attribute(const Trace& trace) {
  Attribution result;
  OpTable table(trace, result);
  std::vector<RangeId> range_of_call = ranges_of_calls(trace);
  const DeviceOps& ops = trace.device_ops;
  result.op_of.reserve(ops.size());
  result.range_of.reserve(ops.size());
  result.phase_of.reserve(ops.size());
  RangeId last_range;
  RangeFacts facts;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    RangeId range = ops.call[i].valid() ? range_of_call[ops.call[i].value] : RangeId::none();
    if (range != last_range) {
      facts = range.valid() ? facts_of(trace, range) : RangeFacts{};
      last_range = range;
    }
    Phase phase = ops.phase[i] != Phase::kNone ? ops.phase[i] : facts.phase;
    ProcessId process = trace.streams[ops.stream[i].value].process;
    std::int64_t graph_op = ops.op[i] >= 0 ? ops.op[i] : facts.op;
    OpId op = graph_op >= 0 ? table.of_graph(process, graph_op) : OpId::none();
    if (!op.valid()) op = range.valid() ? table.of_range(range, phase) : OpId{0};
    result.op_of.push_back(op);
    result.range_of.push_back(range);
    result.phase_of.push_back(phase);
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
