// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/graph/graph.h"
#include "analyzer/replay/parts.h"

namespace headway::analyzer {

/// A place in the order in which points are computed.
using Slot = Id<struct SlotTag>;
/// Index of a constraint of a program.
using ConstraintId = Id<struct ConstraintTag>;

/// What a constraint says besides its lag.
struct Constraint {
  Slot from;
  ConstraintId id;
  DurationNs lag;
  PartId part;
  EdgeKind kind;
};

/// The dependency graph flattened for replaying: each point after all that it waits for, and for each
/// the constraints that keep it: "at least `lag` after `from`". Waits are not durations here: a blocking
/// call has its own cost and an edge from what it waited for. A delay (launch, front end, wake-up) that
/// decided when a point came keeps its recorded length up to the 95th percentile of its kind; the
/// remainder is time that nothing recorded explains and is left out: see `Baseline::residual`.
/// Host time that belongs to several parts is cut by extra points.
/// Immutable after construction, so any number of threads may replay it. About 45 bytes a point.
class Program {
 public:
  Program(const DependencyGraph& graph, Parts& parts);

  const DependencyGraph& graph() const { return graph_; }
  std::size_t size() const { return first_.size() - 1; }
  Slot slot_of(PointId point) const { return {slot_[point.value]}; }
  /// The point of a slot; none for a cut in host time. Cuts stand just before the point they lead to.
  PointId point_of(Slot slot) const { return {point_[slot.value]}; }
  /// The recorded time of a slot; of a cut in host time, where the cut is.
  TimeNs recorded(Slot slot) const { return {recorded_[slot.value]}; }

  /// Visits the constraints of a slot. A slot without any comes at its recorded time.
  template <class Visit>
  void for_each(Slot slot, Visit visit) const {
    for (std::uint32_t c = first_[slot.value]; c < first_[slot.value + 1]; ++c)
      visit(constraint({c}));
  }
  Constraint constraint(ConstraintId id) const;
  /// The constraint by which a task's thread reached `at` with its own work, no earlier than `begin` of the task; of two, the
  /// inner one. Its `from` is none where the thread slept.
  Constraint own_into(Slot at, Slot begin) const;
  std::size_t constraint_count() const { return from_lag_.size(); }

  /// Multiplies lags permanently by a factor per PartId, at most 1: later replays are of another run. Call before any replay.
  void scale(std::span<const double> factor);

 private:
  friend class Replayer;
  struct FromLag {
    std::uint32_t from;
    std::uint32_t lag;  ///< in ns; kLong: see long_lags_
  };
  static constexpr std::uint32_t kLong = 0xffffffff;

  struct Draft;
  void begin_slot(TimeNs recorded, PointId point);
  void add(Slot from, DurationNs lag, PartId part, EdgeKind kind);
  void add_point(PointId point, Parts& parts, std::vector<Draft>& drafts,
                 std::vector<HostShare>& shares);
  Slot add_cuts(Slot from, TimeNs begin, std::span<const HostShare> shares);
  DurationNs most_delay(EdgeKind kind, PointId from, PointId to) const;
  std::int64_t lag_of(std::uint32_t constraint) const;
  void set_lag(std::uint32_t constraint, std::int64_t lag);

  const DependencyGraph& graph_;
  std::vector<std::uint32_t> slot_;   ///< by PointId
  std::vector<std::uint32_t> point_;  ///< by slot
  std::vector<std::int64_t> recorded_;
  std::vector<std::uint32_t> first_;  ///< by slot, and one more
  std::vector<FromLag> from_lag_;
  std::vector<PartId> part_;
  std::vector<EdgeKind> kind_;
  std::vector<std::pair<std::uint32_t, std::int64_t>> long_lags_;  ///< over 4 s, by constraint
};

}  // namespace headway::analyzer
