// SPDX-License-Identifier: MIT
#include "analyzer/model/between_cause.h"

namespace headway::analyzer {
namespace {

using enum BetweenCause;

constexpr std::array<BetweenCauseInfo, kBetweenCauseCount> kCauses = {{
    {kOther, "other", "outside all ranges"},
    {kEvaluation, "evaluation", "evaluation"},
    {kCheckpoint, "checkpoint", "checkpoints"},
    {kLogging, "logging", "logging"},
    {kLoaderRestart, "loader_restart", "the loader's restart"},
    {kGarbageCollection, "garbage_collection", "garbage collection"},
}};

constexpr bool in_enum_order() {
  for (std::size_t i = 0; i < kCauses.size(); ++i) {
    if (kCauses[i].cause != static_cast<BetweenCause>(i)) return false;
  }
  return true;
}
static_assert(in_enum_order(), "kCauses must list the causes in the order of enum BetweenCause");

}  // namespace

std::span<const BetweenCauseInfo, kBetweenCauseCount> between_causes() {
  return kCauses;
}

}  // namespace headway::analyzer
