// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/graph/critical_path.h"

namespace headway::analyzer {

/// Turns the edges of a walk into pieces with a kind and an event. Pieces come out latest first.
class PathWriter {
 public:
  PathWriter(const DependencyGraph& graph, std::vector<PathPiece>& out);

  /// Adds `part`, time before `to` that is reached through `binding`; inside [binding.from, to].
  void add(const Binding& binding, PointId to, Interval part);
  /// Adds time of a thread of which only the ranges are known.
  void add_host(trace::ThreadId thread, Interval part, EdgeKind edge, bool inferred);
  void add_unexplained(Interval part);

 private:
  void put(Interval part, PathKind kind, const Binding& binding, EventRef event,
           trace::ThreadId thread = {});
  void add_task(const Binding& binding, TaskId task, Interval part);
  void add_between(const Binding& binding, PointId to, Interval part);
  void add_delay(const Binding& binding, PointId to, Interval part, PathKind kind, DurationNs most);
  bool is_input(trace::RangeId range);

  const DependencyGraph& graph_;
  const trace::Trace& trace_;
  std::vector<PathPiece>& out_;
  std::vector<std::int8_t> input_name_;  ///< by StringId: 1 a wait for input, -1 not known yet
  std::vector<std::int8_t> comm_name_;   ///< by StringId: 1 communication, -1 not known yet
};

/// Same as find_critical_path(trace, …), for callers that already have the graph of the trace.
CriticalPath find_critical_path(const DependencyGraph& graph, const Steps& steps,
                                const std::vector<DevicePartition>& partitions);

}  // namespace headway::analyzer
