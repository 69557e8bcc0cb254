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

/// What a cell of the map shows.
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
  /// Time that is the rank's own: not communication, not waiting for others.
  DurationNs own() const;
};

struct RankRow {
  std::string label;                           ///< "rank 3"
  std::string detail;                          ///< host and device
  std::vector<std::optional<RankCell>> cells;  ///< by RankMap::steps
  analyzer::ClassTimes mean;                   ///< of the steady steps
};

/// The rank that the others waited for in a step: the one with most time of its own.
struct Straggler {
  std::uint32_t column = 0;  ///< into RankMap::steps
  std::uint32_t row = 0;
  DurationNs excess;                         ///< of its own time over that of the median rank
  std::optional<analyzer::TimeClass> cause;  ///< the class that is most above the median rank's
  DurationNs cause_excess;
};

/// Ranks by steps. A trace of one rank has a row for each device.
struct RankMap {
  std::vector<std::int64_t> steps;  ///< numbers, rising
  std::vector<RankRow> rows;
  std::vector<Straggler> stragglers;  ///< of steps in which one stands out, by step
  bool of_devices = false;            ///< rows are devices of one rank
  bool can_tell_waits = false;        ///< waiting is told from transfer: all ranks are here
  std::string text;                   ///< a sentence or two: who is slow and why
  std::shared_ptr<const analyzer::JobAnalysis> job;  ///< null for one rank

  /// The least value and the one that 98 % of the cells do not exceed: the ends of the colours.
  std::pair<DurationNs, DurationNs> range(RankMetric metric) const;
  /// The figure by which ranks differ most, causes before their effect: what the others wait for rather than
  /// that they wait. kStep when they do not differ.
  RankMetric most_different() const;
};

/// Analyses each rank by itself when the trace holds several and the analysis does not know them
/// yet: costs as much as opening the trace again, and a copy of one rank's events at a time.
RankMap make_rank_map(const trace::Trace& trace, const analyzer::Analysis& analysis,
                      const std::atomic<bool>* cancelled = nullptr);

LinkedTable rank_summary_table(const trace::Trace& trace, const analyzer::Analysis& analysis,
                               const RankMap& map);
/// Stragglers step by step.
LinkedTable straggler_table(const RankMap& map, const analyzer::Analysis& analysis);

}  // namespace headway::gui
