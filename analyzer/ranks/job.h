// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/ranks/clocks.h"
#include "analyzer/ranks/match.h"
#include "analyzer/ranks/rank_summary.h"

namespace headway::analyzer {

/// Collectives of one communicator, kind and size over the whole recording.
struct CollectiveFigures {
  CollectiveGroup group;
  std::int64_t bytes = -1;
  std::int32_t ranks = 0;  ///< members of the communicator
  std::int64_t count = 0;  ///< matched collectives
  DurationNs own;          ///< median over collectives of the mean duration on a rank
  DurationNs transfer;     ///< median of the least durations
  DurationNs wait;         ///< median over collectives of the first arrival's wait
  DurationNs total_wait;   ///< of all ranks together
  double bytes_per_s = 0;  ///< algorithm bandwidth: bytes over transfer; 0 unknown
  double bus_bytes_per_s = 0;
};

/// Why a rank arrives last: the class in which it spends more time than the median rank, in the steps
/// in which it was last.
struct LateCause {
  TimeClass time_class = TimeClass::kUnknown;
  DurationNs excess_per_step;
  /// For compute on the host: the phase with most of the excess; else none.
  trace::Phase phase = trace::Phase::kNone;
};

/// How long a rank waits for the others, and they for it.
struct RankRole {
  std::vector<DurationNs> waits;  ///< per collective of the rank
  std::int64_t synchronised = 0;  ///< matched synchronising collectives it took part in
  std::int64_t last = 0;          ///< of these, those in which all others waited for it
  double wait_share = 0;          ///< share of all waiting in the job that was for this rank
  DurationNs exposed_wait;        ///< per steady step: waiting that nothing hid
  DurationNs caused_wait;         ///< per steady step: exposed wait of the median other rank while
                                  ///< this one was last
  DurationNs unsplit;  ///< per steady step: exposed communication that may be waiting or transfer
  std::optional<LateCause> cause;  ///< of being last; none when it never is
  /// Mean of start minus the earliest member's start, clocks aligned; none when they are not, or
  /// when it is below three times the clocks' residual.
  std::optional<DurationNs> lateness;
};

/// How unevenly compute is spread over ranks, over the steps that all have.
struct Imbalance {
  std::int64_t steps = 0;     ///< steady steps that all ranks have
  DurationNs mean_compute;    ///< per step and rank
  DurationNs excess;          ///< per step: slowest rank's compute minus the mean rank's
  std::uint32_t slowest = 0;  ///< rank that is slowest most often
  double slowest_share = 0;   ///< in this share of the steps
  WorkMeasure work_measure = WorkMeasure::kNone;
  double work_correlation = 0;  ///< of compute with work over ranks and steps, each step centred
  double work_spread = 0;       ///< mean over steps of (most - least work) / mean work
};

/// Everything known about a job of several ranks. Immutable once made.
struct JobAnalysis {
  std::vector<RankSummary> ranks;  ///< by rank; their partitions have `straggler_wait` split off
  std::vector<RankRole> roles;     ///< per rank
  Matching matching;
  Clocks clocks;
  std::vector<CollectiveFigures> collectives;  ///< largest total transfer first
  Imbalance imbalance;
  std::int32_t world_size = 0;  ///< as recorded, else the number of ranks
  DurationNs step;              ///< mean steady step of the slowest rank
  /// Index of the rank to look at: the one the others wait for most, else the slowest.
  std::uint32_t critical = 0;
  std::vector<Doubt> doubts;  ///< of the job as a whole
};

/// Joins the summaries of all ranks. Throws Error(kBadInput) when two have the same rank, naming
/// both files. Deterministic: the order of `summaries` does not matter.
JobAnalysis combine(std::vector<RankSummary> summaries);

/// The device that the rank's steps are judged by: the one with most steady time; null without.
const RankDevice* main_device(const RankSummary& rank);

/// "rank 3".
std::string rank_label(const RankSummary& rank);
/// "ranks 0-3, 7 and 12 more".
std::string rank_list(const JobAnalysis& job, std::span<const std::uint32_t> ranks);

}  // namespace headway::analyzer
