// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analyzer/evidence/rule.h"
#include "analyzer/ranks/collectives.h"

namespace headway::analyzer {

/// The work of a rank's experts: what it computes between the all-to-all that brings tokens and the
/// one that returns them. The backward pass has regions, too. Both members index
/// Collectives::rows.
struct ExpertRegion {
  std::uint32_t brings = 0;
  std::uint32_t takes = 0;
};

/// The regions of one rank by step, in the order of its host. A step's all-to-alls of one
/// communicator form pairs: each layer of experts has two in its forward pass and two in its
/// backward pass. An all-to-all with less than a hundredth of the largest one's bytes exchanges
/// token counts and is left out. So are steps with an odd number of all-to-alls. `rows`: those of
/// the rank.
std::map<std::int64_t, std::vector<ExpertRegion>> expert_regions(
    const Collectives& all, std::span<const std::uint32_t> rows);

/// How evenly the ranks of a job share the experts' work. Times are per steady step that all ranks
/// have. A rank's work is the time from the end of one all-to-all, which all ranks leave together,
/// to its own start of the next, so no common clock is needed.
struct ExpertBalance {
  std::size_t layers = 0;  ///< regions of a step; 0: no rank has any
  std::int64_t steps = 0;
  DurationNs mean;  ///< time inside regions, mean over ranks
  DurationNs most;  ///< sum over regions of the longest rank's time there
  double usual =
      0;  ///< excess of the slowest rank's compute outside regions, as a share of the ranks' mean
  DurationNs waits;  ///< exposed waiting in the all-to-alls that end regions, mean over ranks
  /// The part of `waits` that remains if the slowest rank is slower by `usual` inside regions, too.
  DurationNs uneven;
  std::vector<DurationNs> uneven_of_rank;  ///< `uneven` by rank of the job; 0 without a device
  /// By region: the rank that most often takes longest there, and in which share of the steps.
  struct Busiest {
    std::int32_t rank = 0;
    double share = 0;
  };
  std::vector<Busiest> busiest;

  double factor() const { return mean.ns > 0 ? ratio(most, mean) : 1; }
};

/// The median of `uneven_of_rank` without rank `but_for`.
DurationNs usual_wait(const ExpertBalance& balance, std::size_t but_for);

/// Needs `context.job`.
ExpertBalance find_expert_balance(const RuleContext& context);

}  // namespace headway::analyzer
