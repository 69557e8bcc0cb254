// SPDX-License-Identifier: MIT
// Takes one rank out of a trace of several ranks.
#include <algorithm>

#include "analyzer/ranks/identity.h"
#include "trace/subset.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// The rank's main process, its descendants, and processes that belong to no rank (they may load
/// batches for all).
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

/// Whether processes and threads belong to a rank.
struct Belongs {
  const Trace& trace;
  std::vector<bool> keep;  ///< by process
  bool operator()(ProcessId p) const { return !p.valid() || keep[p.value]; }
  bool operator()(ThreadId t) const {
    return !t.valid() || (*this)(trace.threads[t.value].process);
  }
};

KeptRows rows_of(const Trace& trace, const Belongs& belongs) {
  auto rows = [](std::size_t size, auto keeps) {
    std::vector<std::uint32_t> kept;
    for (std::uint32_t i = 0; i < size; ++i)
      if (keeps(i)) kept.push_back(i);
    return kept;
  };
  KeptRows kept;
  kept.ranges =
      rows(trace.ranges.size(), [&](std::uint32_t i) { return belongs(trace.ranges.thread[i]); });
  kept.calls =
      rows(trace.calls.size(), [&](std::uint32_t i) { return belongs(trace.calls.thread[i]); });
  kept.device_ops = rows(trace.device_ops.size(), [&](std::uint32_t i) {
    return belongs(trace.streams[trace.device_ops.stream[i].value].process);
  });
  kept.io = rows(trace.io.size(), [&](std::uint32_t i) { return belongs(trace.io.thread[i]); });
  return kept;
}

}  // namespace

KeptRows rows_of_rank(const Trace& trace, ProcessId main, const std::vector<RankProcesses>& all) {
  return rows_of(trace, {trace, processes_of(trace, main, all)});
}

EventRef event_in_whole(const KeptRows& kept, EventRef event) {
  auto row_of = [&](const std::vector<std::uint32_t>& rows) {
    return event.index < rows.size() ? EventRef{event.kind, rows[event.index]} : EventRef{};
  };
  switch (event.kind) {
    case EventRef::Kind::kRange:
      return row_of(kept.ranges);
    case EventRef::Kind::kDeviceOp:
      return row_of(kept.device_ops);
    case EventRef::Kind::kCall:
      return row_of(kept.calls);
    case EventRef::Kind::kNone:
      break;
  }
  return {};
}

std::vector<KeptRows> rows_of_ranks(const std::vector<RankSummary>& summaries, const Trace& whole) {
  const std::vector<RankProcesses> ranks = ranks_in(whole, 0);
  std::vector<KeptRows> kept;
  for (const RankSummary& summary : summaries) {
    auto its = std::ranges::find_if(ranks, [&](const RankProcesses& rank) {
      return rank.main.valid() && rank.identity.rank == summary.identity.rank;
    });
    kept.push_back(its == ranks.end() ? KeptRows() : rows_of_rank(whole, its->main, ranks));
  }
  return kept;
}

Trace take_rank(const Trace& trace, ProcessId main, const std::vector<RankProcesses>& all) {
  const Belongs belongs{trace, processes_of(trace, main, all)};
  Trace out = take_rows(trace, rows_of(trace, belongs));
  out.counters.clear();  // take_rows keeps those of all ranks
  for (const CounterSeries& series : trace.counters) {
    if (belongs(series.process)) out.counters.push_back(series);
  }
  for (const Overhead& overhead : trace.overheads) {
    if (belongs(overhead.thread)) out.overheads.push_back(overhead);
  }
  return out;
}

}  // namespace headway::analyzer
