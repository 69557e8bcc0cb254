// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/graph/calibration.h"
#include "analyzer/graph/edge_kind.h"
#include "analyzer/graph/points.h"
#include "analyzer/model/event_ref.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// One constraint: the point that owns it may not come before `from` plus the lag of its kind.
struct Edge {
  PointId from;
  EdgeKind kind = EdgeKind::kThreadOrder;
  bool inferred = false;  ///< concluded from the schedule, not recorded
};
static_assert(sizeof(Edge) == 8);

struct EdgeCount {
  std::int64_t edges = 0;
  std::int64_t inferred = 0;
  std::int64_t contradicted = 0;  ///< would have run backwards in time: left out
};

/// What had to wait for what in a recording. Nodes are points, the start and the end of every task,
/// because a blocking call's end waits for things that began after the call did. Every edge goes
/// forwards in `order()`, so there is no cycle by construction. About 36 bytes a task; immutable
/// after construction; keeps a reference to the trace.
class DependencyGraph {
 public:
  /// `machine` and `ready_batch` (the time to receive a ready batch) are used for delays that the trace shows too seldom.
  explicit DependencyGraph(const trace::Trace& trace, const MachineFacts& machine = {},
                           std::optional<DurationNs> ready_batch = {});

  const trace::Trace& trace() const { return points_.trace(); }
  const Points& points() const { return points_; }
  /// All points by time. Each comes after everything it waits for.
  std::span<const PointId> order() const { return order_; }
  /// What a point waits for besides its own task's start.
  std::span<const Edge> edges_to(PointId point) const {
    return std::span<const Edge>(edges_).subspan(offset_[point.value],
                                                 offset_[point.value + 1] - offset_[point.value]);
  }
  const Calibration& calibration() const { return calibration_; }
  const EdgeCount& count(EdgeKind kind) const { return counts_[static_cast<std::size_t>(kind)]; }

  /// True when other points of the same thread lie inside the task: then its end waits for the last
  /// of them and not for its own start.
  bool is_nested(TaskId task) const { return (flags_[task.value] & kNested) != 0; }
  /// True when the task's end waits for something outside: then its recorded duration includes
  /// that wait, and `base()` gives its own time.
  bool is_waiting(TaskId task) const { return (flags_[task.value] & kWaiting) != 0; }
  /// The task's own time: what it would take if nothing kept it waiting.
  DurationNs base(TaskId task) const;
  /// The least time from `edge.from` to `to` that the edge requires; never more than what was
  /// recorded.
  DurationNs lag(const Edge& edge, PointId to) const;

 private:
  enum Flag : std::uint8_t { kNested = 1, kWaiting = 2 };

  void build_edges(std::vector<struct NewEdge> edges);

  Points points_;
  std::vector<PointId> order_;
  std::vector<std::uint32_t> offset_;
  std::vector<Edge> edges_;
  std::vector<std::uint8_t> flags_;
  std::array<EdgeCount, kEdgeKindCount> counts_{};
  Calibration calibration_;
};

/// The constraint that decided when a point came: the one that was fulfilled last.
struct Binding {
  PointId from;  ///< none: no recorded constraint
  EdgeKind kind = EdgeKind::kDuration;
  bool inferred = false;
};
Binding binding_of(const DependencyGraph& graph, PointId point);

}  // namespace headway::analyzer
