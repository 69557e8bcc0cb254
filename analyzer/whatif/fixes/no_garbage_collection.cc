// SPDX-License-Identifier: MIT
// Python's collector finds nothing to look at: what lives for the whole run is frozen.
#include <fmt/format.h>

#include "analyzer/whatif/between_parts.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// Collections at steps of the program's choice still take some time.
constexpr double kMayBeDone = 0.9;

Proposal propose(const Predictor& predictor) {
  const BetweenEditor between(predictor, BetweenCause::kGarbageCollection);
  if (between.per_step().ns == 0) return not_here("no garbage collection in steady steps");
  Proposal proposal{true,
                    fmt::format("garbage collection, {} a step on average, takes no time",
                                format_duration(between.per_step())),
                    between.scaled(0)};
  proposal.certainty = kMayBeDone;
  return proposal;
}

}  // namespace

const Fix kNoGarbageCollection{"no-garbage-collection",
                               "Exclude long-lived objects from garbage collection",
                               "garbage-collection",
                               FixKind::kStructural,
                               0.05,
                               "",
                               "Recorded collections take no time.",
                               "how much memory uncollected cycles cost",
                               propose};

}  // namespace headway::analyzer
