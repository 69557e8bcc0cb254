// SPDX-License-Identifier: MIT
// D10 between threads that compute: while autograd's thread runs the backward pass, the thread that
// asked for it sleeps. Ops that continue another thread's (the same autograd sequence number) prove
// who works for whom. Without numbers it is concluded from a thread's name, or from the two taking
// turns: one begins nothing while the other works (inferred). A gap of such a thread is a wait, not work.
#include <algorithm>

#include "analyzer/graph/edges.h"
#include "analyzer/steps/range_names.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Least average number of calls in a burst: threads that run in parallel alternate far more often.
constexpr std::size_t kCallsOfBurst = 4;

struct Sequence {
  std::int64_t number;
  TimeNs start;
  ThreadId thread;
};

/// Per thread, the thread whose forward ops it continues; none when it continues nobody's.
std::vector<ThreadId> masters_by_sequence(const Trace& trace) {
  std::vector<std::vector<Sequence>> of_process(trace.processes.size());
  for (std::uint32_t r = 0; r < trace.ranges.size(); ++r) {
    const trace::RangeInfo* info = trace.info(RangeId{r});
    if (!info || info->sequence < 0) continue;
    ThreadId thread = trace.ranges.thread[r];
    of_process[trace.threads[thread.value].process.value].push_back(
        {info->sequence, trace.ranges.start[r], thread});
  }
  std::vector<ThreadId> master(trace.threads.size());
  std::vector<std::int64_t> votes(trace.threads.size());
  for (std::vector<Sequence>& all : of_process) {
    std::sort(all.begin(), all.end(), [](const Sequence& a, const Sequence& b) {
      return std::tuple(a.number, a.start, a.thread) < std::tuple(b.number, b.start, b.thread);
    });
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (all[i].number != all[i - 1].number || all[i].thread == all[i - 1].thread) continue;
      // Majority vote: a stray number of a helper thread must not decide.
      ThreadId& candidate = master[all[i].thread.value];
      std::int64_t& vote = votes[all[i].thread.value];
      if (candidate == all[i - 1].thread) {
        ++vote;
      } else if (vote == 0) {
        candidate = all[i - 1].thread;
        vote = 1;
      } else {
        --vote;
      }
    }
  }
  // Two threads cannot work for each other: the one that is continued more often leads.
  for (std::uint32_t t = 0; t < master.size(); ++t) {
    ThreadId other = master[t];
    if (other.valid() && master[other.value] == ThreadId{t})
      (votes[t] < votes[other.value] ? master[t] : master[other.value]) = ThreadId::none();
  }
  return master;
}

/// Without numbers: the thread of the process with most calls leads, if `helper` has a name of
/// autograd's (PyTorch names it pt_autograd_N).
ThreadId master_by_name(const Trace& trace, ThreadId helper) {
  if (trace.threads[helper.value].name.find("autograd") == std::string::npos)
    return ThreadId::none();
  ThreadId best;
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    if (ThreadId{t} == helper || trace.threads[t].process != trace.threads[helper.value].process)
      continue;
    if (!best.valid() ||
        trace.calls_of_thread[ThreadId{t}].size() > trace.calls_of_thread[best].size())
      best = ThreadId{t};
  }
  return best;
}

std::size_t backward_ranges(const Trace& trace, ThreadId thread) {
  std::size_t count = 0;
  for (RangeId r : trace.ranges_of_thread[thread])
    count += phase_of_name(trace.strings[trace.ranges.name[r.value]]) == Phase::kBackward;
  return count;
}

/// Without numbers and names: the thread of the process that launches most besides the helper. Whether
/// they take turns is left to take_turns().
ThreadId master_by_turns(const Trace& trace, ThreadId helper,
                         const std::vector<std::size_t>& launches) {
  if (launches[helper.value] == 0) return ThreadId::none();
  ThreadId best;
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    if (ThreadId{t} == helper || trace.threads[t].process != trace.threads[helper.value].process)
      continue;
    if (launches[t] > 0 && (!best.valid() || launches[t] > launches[best.value]))
      best = ThreadId{t};
  }
  if (!best.valid()) return best;
  // Of two that take turns, the one with the backward pass works for the other; else the one that
  // called first leads.
  const std::size_t mine = backward_ranges(trace, helper);
  const std::size_t other = backward_ranges(trace, best);
  if (mine != other) return mine > other ? best : ThreadId::none();
  auto begin = [&](ThreadId t) {
    return trace.calls.start[trace.calls_of_thread[t].front().value];
  };
  return begin(best) < begin(helper) ? best : ThreadId::none();
}

struct Burst {
  PointId asked;  ///< the master's last point before; none at the start
  PointId first;  ///< of the helper
  PointId last;
  PointId resumed;  ///< the master's first point after; none at the end
};

/// The stretches in which only the helper calls, by merging both threads' calls.
std::vector<Burst> bursts_of(const Points& points, std::span<const CallId> helper,
                             std::span<const CallId> master) {
  std::vector<Burst> bursts;
  std::size_t m = 0;
  for (std::size_t h = 0; h < helper.size();) {
    PointId first = start_of(points.task(helper[h]));
    while (m < master.size() && points.before(start_of(points.task(master[m])), first)) ++m;
    Burst burst;
    if (m > 0) {
      PointId end = end_of(points.task(master[m - 1]));
      // The master may sleep inside its own call (a synchronisation): not for the helper.
      if (!points.before(end, first)) {
        ++h;
        continue;
      }
      burst.asked = end;
    }
    burst.first = first;
    PointId next = m < master.size() ? start_of(points.task(master[m])) : PointId::none();
    while (h < helper.size()) {
      PointId end = end_of(points.task(helper[h]));
      if (next.valid() && !points.before(end, next)) break;
      if (!burst.last.valid() || points.before(burst.last, end)) burst.last = end;
      ++h;
    }
    if (!burst.last.valid()) {
      ++h;
      continue;
    }
    burst.resumed = next;
    bursts.push_back(burst);
  }
  return bursts;
}

/// True when the master begins nearly none of its ranges (at most 5 %) while the helper works.
bool take_turns(const Points& points, const std::vector<Burst>& bursts, ThreadId master) {
  constexpr double kStray = 0.05;
  const Trace& trace = points.trace();
  auto rows = trace.ranges_of_thread[master];
  std::size_t inside = 0;
  auto row = rows.begin();
  for (const Burst& burst : bursts) {
    const TimeNs first = points.time(burst.first);
    const TimeNs last = points.time(burst.last);
    row = std::partition_point(row, rows.end(),
                               [&](RangeId r) { return trace.ranges.start[r.value] <= first; });
    for (; row != rows.end() && trace.ranges.start[row->value] < last; ++row) ++inside;
  }
  return static_cast<double>(inside) <= kStray * static_cast<double>(rows.size());
}

}  // namespace

void add_hand_overs(EdgeSink& sink, std::vector<bool>& blocked) {
  const Points& points = sink.points;
  const Trace& trace = points.trace();
  std::vector<ThreadId> masters = masters_by_sequence(trace);
  std::vector<std::size_t> launches(trace.threads.size());
  for (std::size_t c = 0; c < trace.calls.size(); ++c)
    launches[trace.calls.thread[c].value] += trace.calls.op[c].valid();
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    ThreadId helper{t};
    auto calls = trace.calls_of_thread[helper];
    if (calls.empty()) continue;
    const bool inferred = !masters[t].valid();
    ThreadId master = inferred ? master_by_name(trace, helper) : masters[t];
    const bool by_turns = !master.valid();
    if (by_turns) master = master_by_turns(trace, helper, launches);
    if (!master.valid() || trace.calls_of_thread[master].empty()) continue;
    std::vector<Burst> bursts = bursts_of(points, calls, trace.calls_of_thread[master]);
    if (bursts.empty() || calls.size() < bursts.size() * kCallsOfBurst) continue;
    if (by_turns && !take_turns(points, bursts, master)) continue;
    for (const Burst& burst : bursts) {
      if (burst.asked.valid() && sink.add(burst.asked, burst.first, EdgeKind::kHandOver, inferred))
        blocked[burst.first.value] = true;
      if (burst.resumed.valid() &&
          sink.add(burst.last, burst.resumed, EdgeKind::kHandOver, inferred))
        blocked[burst.resumed.value] = true;
    }
  }
}

}  // namespace headway::analyzer
