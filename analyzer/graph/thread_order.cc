// SPDX-License-Identifier: MIT
// D1: the points of a host thread, one after the other. The time between two points is the thread's
// own work and stays, except where the thread slept until another one handed over.
#include <algorithm>

#include "analyzer/graph/edges.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// The tasks of each thread that are ranges: few.
std::vector<std::vector<TaskId>> range_tasks(const Points& points) {
  std::vector<std::vector<TaskId>> of_thread(points.trace().threads.size());
  for (std::size_t i = 0; i < points.ranges().size(); ++i) {
    ThreadId thread = points.trace().ranges.thread[points.ranges()[i].value];
    of_thread[thread.value].push_back(points.range_task(i));
  }
  return of_thread;
}

}  // namespace

void add_thread_order(const std::vector<bool>& blocked, EdgeSink& sink, SortedRuns& runs,
                      std::vector<std::uint8_t>& nested) {
  const Points& points = sink.points;
  const Trace& trace = points.trace();
  auto before = [&](PointId a, PointId b) { return points.before(a, b); };
  std::vector<std::vector<TaskId>> extra = range_tasks(points);
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    std::size_t first = runs.points.size();
    auto add = [&](TaskId task) {
      runs.points.push_back(start_of(task));
      runs.points.push_back(end_of(task));
    };
    for (CallId call : trace.calls_of_thread[ThreadId{t}]) add(points.task(call));
    for (TaskId task : extra[t]) add(task);
    auto begin = runs.points.begin() + static_cast<std::ptrdiff_t>(first);
    if (begin == runs.points.end()) continue;
    // Calls that are not nested come sorted.
    if (!std::is_sorted(begin, runs.points.end(), before))
      std::sort(begin, runs.points.end(), before);
    runs.ends.push_back(runs.points.size());
    for (std::size_t i = first + 1; i < runs.points.size(); ++i) {
      PointId from = runs.points[i - 1];
      PointId to = runs.points[i];
      if (is_start(from) && !is_start(to) && task_of(from) == task_of(to)) continue;
      bool sleeps = !blocked.empty() && blocked[to.value];
      sink.add(from, to, sleeps ? EdgeKind::kThreadBlocked : EdgeKind::kThreadOrder, false);
      if (!is_start(to)) nested[task_of(to).value] = 1;
    }
  }
}

}  // namespace headway::analyzer
