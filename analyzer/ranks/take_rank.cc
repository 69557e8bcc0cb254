// SPDX-License-Identifier: MIT
// One rank out of a trace of several.
#include <algorithm>

#include "analyzer/ranks/identity.h"
#include "trace/subset.h"

namespace headway::analyzer {
namespace {

using namespace trace;

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

}  // namespace

Trace take_rank(const Trace& trace, ProcessId main, const std::vector<RankProcesses>& all) {
  std::vector<bool> keep = processes_of(trace, main, all);
  auto keeps_process = [&](ProcessId p) { return !p.valid() || keep[p.value]; };
  auto keeps_thread = [&](ThreadId t) {
    return !t.valid() || keeps_process(trace.threads[t.value].process);
  };
  auto rows = [](std::size_t size, auto keeps) {
    std::vector<std::uint32_t> kept;
    for (std::uint32_t i = 0; i < size; ++i)
      if (keeps(i)) kept.push_back(i);
    return kept;
  };
  KeptRows kept;
  kept.ranges = rows(trace.ranges.size(),
                     [&](std::uint32_t i) { return keeps_thread(trace.ranges.thread[i]); });
  kept.calls = rows(trace.calls.size(),
                    [&](std::uint32_t i) { return keeps_thread(trace.calls.thread[i]); });
  kept.device_ops = rows(trace.device_ops.size(), [&](std::uint32_t i) {
    return keeps_process(trace.streams[trace.device_ops.stream[i].value].process);
  });
  kept.io =
      rows(trace.io.size(), [&](std::uint32_t i) { return keeps_thread(trace.io.thread[i]); });
  Trace out = take_rows(trace, kept);
  for (const CounterSeries& series : trace.counters) {
    if (keeps_process(series.process)) out.counters.push_back(series);
  }
  for (const Overhead& overhead : trace.overheads) {
    if (keeps_thread(overhead.thread)) out.overheads.push_back(overhead);
  }
  return out;
}

}  // namespace headway::analyzer
