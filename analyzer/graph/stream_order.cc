// SPDX-License-Identifier: MIT
// D2: the ops of a stream run one after the other. Where two overlap (kernels of a CUDA graph,
// programmatic dependent launch, times rounded to microseconds) only their starts are ordered.
#include <algorithm>

#include "analyzer/graph/edges.h"

namespace headway::analyzer {

using namespace trace;

void add_stream_order(EdgeSink& sink, SortedRuns& runs) {
  const Points& points = sink.points;
  const Trace& trace = points.trace();
  auto before = [&](PointId a, PointId b) { return points.before(a, b); };
  for (std::uint32_t s = 0; s < trace.streams.size(); ++s) {
    std::size_t first = runs.points.size();
    DeviceOpId previous;
    for (DeviceOpId op : trace.ops_of_stream[StreamId{s}]) {
      TaskId task = points.task(op);
      runs.points.push_back(start_of(task));
      runs.points.push_back(end_of(task));
      if (previous.valid()) {
        TaskId last = points.task(previous);
        bool overlap = !points.before(end_of(last), start_of(task));
        sink.add(overlap ? start_of(last) : end_of(last), start_of(task), EdgeKind::kStreamOrder,
                 overlap);
      }
      previous = op;
    }
    auto begin = runs.points.begin() + static_cast<std::ptrdiff_t>(first);
    if (begin == runs.points.end()) continue;
    if (!std::is_sorted(begin, runs.points.end(), before))
      std::sort(begin, runs.points.end(), before);
    runs.ends.push_back(runs.points.size());
  }
}

}  // namespace headway::analyzer
