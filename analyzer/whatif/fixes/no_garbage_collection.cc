// SPDX-License-Identifier: MIT
// Objects that live for the whole run are frozen, so that Python's collector does not visit them.
#include <fmt/format.h>

#include "analyzer/whatif/between_parts.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// Certainty: collections at steps of the program's choice still take some time.
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
