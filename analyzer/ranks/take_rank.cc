// SPDX-License-Identifier: MIT
// One rank out of a trace of several. Rows keep their order; processes, threads, devices, streams
// and texts keep their ids, so only row numbers change.
#include <algorithm>

#include "analyzer/ranks/identity.h"
#include "trace/indexes.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Old row -> new row, none for rows that stay behind.
template <class RowId>
struct Renumbering {
  std::vector<RowId> to;
  RowId operator()(RowId row) const {
    return row.valid() && row.value < to.size() ? to[row.value] : RowId::none();
  }
};

template <class RowId, class Columns, class Keep>
Renumbering<RowId> copy_rows(Columns& from, Columns& target, Keep keep) {
  Renumbering<RowId> numbers;
  numbers.to.assign(from.size(), RowId::none());
  std::vector<std::uint32_t> kept;
  for (std::uint32_t i = 0; i < from.size(); ++i) {
    if (!keep(i)) continue;
    numbers.to[i] = RowId::from(kept.size());
    kept.push_back(i);
  }
  auto source = from.columns();
  auto columns = target.columns();
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    auto copy = [&](const auto& a, auto& b) {
      if (a.empty()) return;  // a column that no importer filled
      b.reserve(kept.size());
      for (std::uint32_t i : kept) b.push_back(a[i]);
    };
    (copy(std::get<I>(source), std::get<I>(columns)), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<decltype(source)>>{});
  return numbers;
}

/// The rank's main process, its descendants, and processes that belong to no rank (they may load
/// for all).
std::vector<bool> processes_of(const Trace& trace, ProcessId main,
                               const std::vector<RankProcesses>& all) {
  std::vector<ProcessId> owner(trace.processes.size(), ProcessId::none());
  for (const RankProcesses& rank : all) owner[rank.main.value] = rank.main;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t p = 0; p < owner.size(); ++p) {
      if (owner[p].valid() || trace.processes[p].parent_pid == 0) continue;
      for (std::uint32_t q = 0; q < owner.size(); ++q) {
        if (q != p && owner[q].valid() && trace.processes[q].pid == trace.processes[p].parent_pid) {
          owner[p] = owner[q];
          changed = true;
          break;
        }
      }
    }
  }
  std::vector<bool> keep(owner.size());
  for (std::size_t p = 0; p < owner.size(); ++p) keep[p] = !owner[p].valid() || owner[p] == main;
  return keep;
}

Strings copy_strings(const Strings& from) {
  Strings copy;  // Strings holds views of its own texts, so it is made anew, in the same order
  for (std::uint32_t i = 0; i < from.size(); ++i) copy.add(from[StringId{i}]);
  return copy;
}

}  // namespace

Trace take_rank(const Trace& trace, ProcessId main, const std::vector<RankProcesses>& all) {
  std::vector<bool> keep = processes_of(trace, main, all);
  auto keeps_process = [&](ProcessId p) { return !p.valid() || keep[p.value]; };
  auto keeps_thread = [&](ThreadId t) {
    return !t.valid() || keeps_process(trace.threads[t.value].process);
  };
  Trace out;
  out.path = trace.path;
  out.meta = trace.meta;
  out.start_utc_ns = trace.start_utc_ns;
  out.end = trace.end;
  out.complete = trace.complete;
  out.world_size = trace.world_size;
  out.strings = copy_strings(trace.strings);
  out.processes = trace.processes;
  out.threads = trace.threads;
  out.devices = trace.devices;
  out.streams = trace.streams;
  out.domains = trace.domains;
  out.range_info = trace.range_info;
  out.graph_ops = trace.graph_ops;
  out.settings = trace.settings;
  out.losses = trace.losses;
  for (const CounterSeries& series : trace.counters) {
    if (keeps_process(series.process)) out.counters.push_back(series);
  }
  for (const Overhead& overhead : trace.overheads) {
    if (keeps_thread(overhead.thread)) out.overheads.push_back(overhead);
  }
  Trace& source = const_cast<Trace&>(trace);  // columns() has no const form; only read here
  auto ranges = copy_rows<RangeId>(source.ranges, out.ranges, [&](std::uint32_t i) {
    return keeps_thread(trace.ranges.thread[i]);
  });
  auto calls = copy_rows<CallId>(source.calls, out.calls, [&](std::uint32_t i) {
    return keeps_thread(trace.calls.thread[i]);
  });
  auto ops = copy_rows<DeviceOpId>(source.device_ops, out.device_ops, [&](std::uint32_t i) {
    return keeps_process(trace.streams[trace.device_ops.stream[i].value].process);
  });
  copy_rows<IoId>(source.io, out.io,
                  [&](std::uint32_t i) { return keeps_thread(trace.io.thread[i]); });
  for (RangeId& parent : out.ranges.parent) parent = ranges(parent);
  for (CallId& call : out.device_ops.call) call = calls(call);
  for (DeviceOpId& op : out.calls.op) op = ops(op);
  for (Collective collective : trace.collectives) {
    bool mine =
        collective.op.valid() ? ops(collective.op).valid() : ranges(collective.range).valid();
    if (!mine) continue;
    collective.op = ops(collective.op);
    collective.range = ranges(collective.range);
    out.collectives.push_back(collective);
  }
  build_indexes(out);
  return out;
}

}  // namespace headway::analyzer
