// SPDX-License-Identifier: MIT
// Joins rows of the file that say something about other rows: synchronisations, flows, Python's call
// tree, collectives.
#include <algorithm>
#include <unordered_map>

#include "trace/import/kineto/merge.h"

namespace headway::trace::kineto {
namespace {

/// The innermost range of the thread that contains `at`; one that begins at `at` counts.
RangeId range_at(const Trace& trace, ThreadId thread, TimeNs at) {
  if (!thread.valid()) return RangeId::none();
  std::span<const RangeId> rows = trace.ranges_of_thread[thread];
  auto after = std::partition_point(rows.begin(), rows.end(), [&](RangeId range) {
    return trace.ranges.start[range.value] <= at;
  });
  if (after == rows.begin()) return RangeId::none();
  RangeId range = *(after - 1);
  while (range.valid() && trace.ranges.end[range.value] < at)
    range = trace.ranges.parent[range.value];
  return range;
}

/// An info that belongs to this range alone: a new one, or a copy of the shared one.
RangeInfo& own_info(Trace& trace, RangeId range) {
  RangeInfoId& id = trace.ranges.info[range.value];
  RangeInfo copy = id.valid() ? trace.range_info[id.value] : RangeInfo{};
  id = RangeInfoId::from(trace.range_info.size());
  return trace.range_info.emplace_back(copy);
}

}  // namespace

void take_carried(Merged& merged) {
  Trace& trace = merged.assembly.trace;
  for (std::size_t i = 0; i < trace.ranges.size(); ++i) {
    RangeId carried = trace.ranges.parent[i];
    if (!carried.valid()) continue;
    if (carried.value & Part::kPython) {
      merged.python_of_range.emplace_back(RangeId::from(i),
                                          merged.python[carried.value & ~Part::kPython]);
    } else {
      merged.collective_of_range.emplace_back(RangeId::from(i), carried.value);
    }
  }
  for (std::size_t i = 0; i < trace.device_ops.size(); ++i) {
    std::int32_t& carried = trace.device_ops.op[i];
    if (carried >= 0)
      merged.collective_of_op.emplace_back(DeviceOpId::from(i),
                                           static_cast<std::uint32_t>(carried));
    carried = -1;
  }
}

void join_syncs(Merged& merged) {
  if (merged.syncs.empty()) return;
  Trace& trace = merged.assembly.trace;
  std::unordered_map<std::uint64_t, const SyncRow*> by_correlation;
  for (const SyncRow& row : merged.syncs) {
    if (row.correlation) by_correlation[row.correlation] = &row;
  }
  Calls& calls = trace.calls;
  for (std::size_t i = 0; i < calls.start.size(); ++i) {
    auto found = by_correlation.find(calls.correlation[i]);
    if (found == by_correlation.end()) continue;
    const SyncRow& row = *found->second;
    if (row.record) calls.sync_id[i] = row.record;
    if (row.stream.stream < 0) continue;
    ProcessId process = trace.threads[calls.thread[i].value].process;
    calls.stream[i] = merged.assembly.stream(
        merged.assembly.device(DeviceType::kCuda, process, row.stream.device), process,
        row.stream.stream);
  }
}

void join_launch_flows(Merged& merged) {
  if (merged.launch_flows.empty()) return;
  Trace& trace = merged.assembly.trace;
  Calls& calls = trace.calls;
  DeviceOps& ops = trace.device_ops;
  auto at = [](const std::vector<TimeNs>& starts, TimeNs time) {
    auto [first, last] = std::equal_range(starts.begin(), starts.end(), time);
    return std::pair(static_cast<std::size_t>(first - starts.begin()),
                     static_cast<std::size_t>(last - starts.begin()));
  };
  for (const Merged::Flow& flow : merged.launch_flows) {
    auto id = static_cast<std::uint32_t>(flow.id);
    if (flow.begins) {
      auto [first, last] = at(calls.start, flow.time);
      for (std::size_t i = first; i < last; ++i) {
        if (calls.thread[i] == flow.thread && calls.correlation[i] == 0) calls.correlation[i] = id;
      }
    } else {
      auto [first, last] = at(ops.start, flow.time);
      for (std::size_t i = first; i < last; ++i) {
        const Stream& stream = trace.streams[ops.stream[i].value];
        if (ops.call[i].value == 0 && stream.ordinal == flow.stream.stream &&
            trace.devices[stream.device.value].ordinal == flow.stream.device)
          ops.call[i] = {id};
      }
    }
  }
}

void join_autograd_flows(Merged& merged) {
  Trace& trace = merged.assembly.trace;
  struct Ends {
    RangeId forward;
    std::vector<RangeId> backward;
  };
  std::unordered_map<std::uint64_t, Ends> flows;
  std::vector<std::uint64_t> order;
  for (const Merged::Flow& flow : merged.autograd_flows) {
    auto [slot, is_new] = flows.try_emplace(flow.id);
    if (is_new) order.push_back(flow.id);
    RangeId range = range_at(trace, flow.thread, flow.time);
    if (!range.valid()) continue;
    if (flow.begins) {
      slot->second.forward = range;
    } else {
      slot->second.backward.push_back(range);
    }
  }
  auto sequence_of = [&](RangeId range) {
    const RangeInfo* info = trace.info(range);
    return info ? info->sequence : conventions::kAbsent;
  };
  for (std::uint64_t id : order) {
    const Ends& ends = flows[id];
    if (!ends.forward.valid() || ends.backward.empty()) continue;
    std::int64_t sequence = sequence_of(ends.forward);
    for (RangeId backward : ends.backward) {
      if (sequence == conventions::kAbsent) sequence = sequence_of(backward);
    }
    // Neither op has a sequence number: the flow's id is used, in a range that autograd never reaches.
    constexpr std::int64_t kFlowSequences = std::int64_t{1} << 48;
    if (sequence == conventions::kAbsent)
      sequence = kFlowSequences + static_cast<std::int64_t>(id & (kFlowSequences - 1));
    auto complete = [&](RangeId range) {
      if (sequence_of(range) == conventions::kAbsent) own_info(trace, range).sequence = sequence;
    };
    complete(ends.forward);
    for (RangeId backward : ends.backward) complete(backward);
  }
}

void join_python(Merged& merged) {
  if (merged.python.empty()) return;
  Trace& trace = merged.assembly.trace;
  Ranges& ranges = trace.ranges;
  std::unordered_map<std::int64_t, RangeId> by_id;
  std::vector<bool> is_python(ranges.size());
  for (const auto& [range, call] : merged.python_of_range) {
    by_id[call.id] = range;
    is_python[range.value] = true;
  }
  bool moved = false;
  for (const auto& [range, call] : merged.python_of_range) {
    auto found = by_id.find(call.parent);
    if (found == by_id.end() || found->second.value >= range.value) continue;
    RangeId parent = found->second;
    if (ranges.thread[parent.value] != ranges.thread[range.value]) continue;
    RangeId above = ranges.parent[range.value];
    // An op encloses the range, and the caller crosses that op: the op stays the parent, as in a saved
    // recording, which has only times.
    if (above.valid() && !is_python[above.value]) continue;
    while (above.valid() && above != parent) above = ranges.parent[above.value];
    // The parent encloses the range except for rounding.
    constexpr std::int64_t kRounding = 2000;
    if (above.valid() || ranges.end[parent.value].ns + kRounding < ranges.end[range.value].ns)
      continue;
    ranges.parent[range.value] = parent;
    moved = true;
  }
  if (!moved) return;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    RangeId parent = ranges.parent[i];
    if (parent.valid())
      ranges.depth[i] =
          static_cast<std::uint16_t>(std::min<int>(ranges.depth[parent.value] + 1, UINT16_MAX));
  }
}

void join_collectives(Merged& merged) {
  Trace& trace = merged.assembly.trace;
  if (merged.collectives.empty()) return;
  std::vector<bool> of_range_used(trace.ranges.size(), false);
  std::unordered_map<std::uint32_t, std::uint32_t> row_of_range;
  for (const auto& [range, row] : merged.collective_of_range) row_of_range[range.value] = row;
  auto add = [&](const CollectiveRow& row, DeviceOpId op, RangeId range) {
    Collective out;
    out.op = op;
    out.range = range;
    std::string kind = collective_kind_of(trace.strings[{row.kind}]);
    if (kind.empty()) return;
    out.kind = trace.strings.add(kind);
    out.communicator = {row.group};
    out.dtype = {row.dtype};
    out.bytes = collective_bytes(kind, row.in_elements, row.out_elements,
                                 bytes_of_dtype(trace.strings[out.dtype]));
    out.sequence = row.sequence;
    out.ranks = row.ranks;
    out.peer = row.peer;
    trace.collectives.push_back(out);
  };
  // The host's range around the launch of the op.
  auto range_around = [&](DeviceOpId op) {
    CallId call = trace.device_ops.call[op.value];
    if (!call.valid()) return RangeId::none();
    RangeId range = range_at(trace, trace.calls.thread[call.value], trace.calls.start[call.value]);
    while (range.valid() && !row_of_range.contains(range.value))
      range = trace.ranges.parent[range.value];
    return range;
  };
  for (const auto& [op, row] : merged.collective_of_op) {
    RangeId range = range_around(op);
    CollectiveRow complete = merged.collectives[row];
    if (range.valid()) {
      of_range_used[range.value] = true;
      const CollectiveRow& host = merged.collectives[row_of_range[range.value]];
      if (complete.sequence == conventions::kAbsent) complete.sequence = host.sequence;
      if (complete.peer < 0) complete.peer = host.peer;
    }
    add(complete, op, range);
  }
  // Kernels without data of their own that were launched inside a range with data about a collective.
  for (std::size_t i = 0; i < trace.device_ops.size(); ++i) {
    DeviceOpId op = DeviceOpId::from(i);
    // (Kernels with data of their own are not kKernel any more.)
    if (trace.device_ops.kind[i] != DeviceOpKind::kKernel) continue;
    std::string_view name = trace.strings[trace.device_ops.name[i]];
    if (!name.starts_with("nccl") && !name.starts_with("void nccl")) continue;
    RangeId range = range_around(op);
    if (!range.valid()) continue;
    of_range_used[range.value] = true;
    add(merged.collectives[row_of_range[range.value]], op, range);
  }
  for (const auto& [range, row] : merged.collective_of_range) {
    if (!of_range_used[range.value]) add(merged.collectives[row], DeviceOpId::none(), range);
  }
  auto start = [&](const Collective& collective) {
    return collective.op.valid() ? trace.device_ops.start[collective.op.value]
                                 : trace.ranges.start[collective.range.value];
  };
  std::stable_sort(trace.collectives.begin(), trace.collectives.end(),
                   [&](const Collective& a, const Collective& b) { return start(a) < start(b); });
}

}  // namespace headway::trace::kineto
