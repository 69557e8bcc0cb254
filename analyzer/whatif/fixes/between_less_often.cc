// SPDX-License-Identifier: MIT
// Work between steps (evaluation, checkpoints, logging) is done half as often.
#include <fmt/format.h>

#include "analyzer/whatif/between_parts.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// Certainty: the program's author chose the interval, and only the author knows whether half as
/// often is enough.
constexpr double kMayBeDone = 0.6;

Proposal half_as_often(const Predictor& predictor, BetweenCause cause, const char* what) {
  const BetweenEditor between(predictor, cause);
  if (between.per_step().ns == 0) return not_here(fmt::format("no {} between steps", what));
  Proposal proposal{true,
                    fmt::format("{} takes {} a step on average ({} times in the steady steps); "
                                "every second one is skipped",
                                what, format_duration(between.per_step()), between.occasions()),
                    between.half_as_often()};
  proposal.certainty = kMayBeDone;
  return proposal;
}

constexpr std::string_view kChange =
    "Every second one is left out, on host and devices, and the last of an odd number takes half "
    "as long. Input waits inside end at once, and the step after it takes no longer than others.";
constexpr std::string_view kCannotKnow = "how often the program needs it";

}  // namespace

const Fix kEvaluateLessOften{"evaluate-less-often",
                             "Evaluate half as often",
                             "evaluation-time",
                             FixKind::kStructural,
                             0.05,
                             "",
                             kChange,
                             kCannotKnow,
                             [](const Predictor& predictor) {
                               return half_as_often(predictor, BetweenCause::kEvaluation,
                                                    "evaluation");
                             }};

const Fix kCheckpointLessOften{"checkpoint-less-often",
                               "Write checkpoints half as often",
                               "checkpoint-time",
                               FixKind::kStructural,
                               0.05,
                               "",
                               kChange,
                               kCannotKnow,
                               [](const Predictor& predictor) {
                                 return half_as_often(predictor, BetweenCause::kCheckpoint,
                                                      "writing checkpoints");
                               }};

const Fix kLogLessOften{"log-less-often",
                        "Log half as often",
                        "logging-time",
                        FixKind::kStructural,
                        0.05,
                        "",
                        kChange,
                        kCannotKnow,
                        [](const Predictor& predictor) {
                          return half_as_often(predictor, BetweenCause::kLogging, "logging");
                        }};

}  // namespace headway::analyzer
