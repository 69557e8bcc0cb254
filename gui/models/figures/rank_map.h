// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/ranks/job.h"
#include "gui/models/tables/linked_table.h"

namespace headway::gui {

/// The figure that a cell of the map shows.
enum class RankMetric : std::uint8_t { kStep, kWait, kCommunication, kCompute, kInput, kHost };
struct RankMetricInfo {
  RankMetric metric;
  std::string_view label;
  std::string_view doc;
};
std::span<const RankMetricInfo> rank_metrics();

/// One step on one rank.
struct RankCell {
  Interval time;
  analyzer::ClassTimes times;
  bool steady = true;
  DurationNs value(RankMetric metric) const;
  /// Time that the rank spends itself: neither communication nor waiting for others.
  DurationNs own() const;
};

struct RankRow {
  std::string label;                           ///< "rank 3"
  std::string detail;                          ///< host and device
  std::vector<std::optional<RankCell>> cells;  ///< by RankMap::steps; nullopt: no such step
  analyzer::ClassTimes mean;                   ///< of the steady steps
};

/// The rank that the others waited for in a step: the one with the largest own() time.
struct Straggler {
  std::uint32_t column = 0;  ///< into RankMap::steps
  std::uint32_t row = 0;
  DurationNs excess;                         ///< its own() time minus that of the median rank
  std::optional<analyzer::TimeClass> cause;  ///< the class that is most above the median rank
  DurationNs cause_excess;                   ///< by how much
};

/// Ranks by steps. A trace of one rank has a row for each device.
struct RankMap {
  std::vector<std::int64_t> steps;  ///< step numbers, ascending
  std::vector<RankRow> rows;
  std::vector<Straggler> stragglers;  ///< by step; only steps in which one rank stands out
  bool of_devices = false;            ///< rows are devices of one rank
  bool can_tell_waits = false;        ///< waiting for others is known apart from transfer
  std::string text;                   ///< a sentence or two: who is slow and why
  std::shared_ptr<const analyzer::JobAnalysis> job;  ///< null for one rank

  /// The least value and the 98th percentile of the cells: the ends of the colour scale.
  std::pair<DurationNs, DurationNs> range(RankMetric metric) const;
  /// The metric in which ranks differ most. Prefers a cause, such as compute, to its effect, the
  /// waiting of the other ranks. kStep when ranks do not differ.
  RankMetric most_different() const;
};

/// Analyses each rank separately if the trace holds several and the analysis does not have them
/// yet. That costs as much as opening the trace again, and memory for a copy of one rank's events
/// at a time.
RankMap make_rank_map(const trace::Trace& trace, const analyzer::Analysis& analysis,
                      const std::atomic<bool>* cancelled = nullptr);

LinkedTable rank_summary_table(const trace::Trace& trace, const analyzer::Analysis& analysis,
                               const RankMap& map);
/// One row per straggler, by step.
LinkedTable straggler_table(const RankMap& map, const analyzer::Analysis& analysis);

}  // namespace headway::gui
