// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analyzer/evidence/rule.h"
#include "analyzer/ranks/collectives.h"

namespace headway::analyzer {

/// What a rank computes between an all-to-all that brings tokens to its experts and the one that takes them back, forward and
/// backward: indices into Collectives::rows.
struct ExpertRegion {
  std::uint32_t brings = 0;
  std::uint32_t takes = 0;
};

/// The regions of one rank by step, in the order of its host. A step's all-to-alls of one communicator go in pairs: every layer of
/// experts has two in its forward pass and two in its backward pass. Those with less than a hundredth of the largest one's
/// bytes tell counts of tokens, and are left out. Steps with an odd number are, too. `rows`: of that rank.
std::map<std::int64_t, std::vector<ExpertRegion>> expert_regions(
    const Collectives& all, std::span<const std::uint32_t> rows);

/// How evenly the ranks of a job share the experts' work. Times per steady step that all ranks have. A rank's work is the time
/// from the end of one all-to-all, which all leave together, to its own begin of the next: no common clock is needed.
struct ExpertBalance {
  std::size_t layers = 0;  ///< regions of a step; 0: no rank has any
  std::int64_t steps = 0;
  DurationNs mean;  ///< of the ranks, inside regions
  DurationNs most;  ///< sum over regions of the rank that takes longest there
  double usual =
      0;  ///< by how much, as a share of the mean, the slowest computes longer outside of regions
  DurationNs waits;  ///< in the all-to-alls that end regions, exposed, mean of the ranks
  /// Of `waits`, what no rank's general slowness explains: by as much as the slowest takes longer outside.
  DurationNs uneven;
  std::vector<DurationNs> uneven_of_rank;  ///< the same by rank of the job; 0 without a device
  /// By region: the rank that takes longest there most often, and in which share of the steps.
  struct Busiest {
    std::int32_t rank = 0;
    double share = 0;
  };
  std::vector<Busiest> busiest;

  double factor() const { return mean.ns > 0 ? ratio(most, mean) : 1; }
};

/// What the usual rank besides this one waits for that: the median.
DurationNs usual_wait(const ExpertBalance& balance, std::size_t but_for);

/// Needs `context.job`.
ExpertBalance find_expert_balance(const RuleContext& context);

}  // namespace headway::analyzer
