// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/evidence/rule.h"
#include "analyzer/model/between_cause.h"
#include "analyzer/partition/partition.h"

namespace headway::analyzer {

/// What the program does in most of the time between steps that these steps of `partition` have.
const BetweenCauseInfo& main_between_cause(const trace::Trace& trace,
                                           const DevicePartition& partition,
                                           std::span<const DeviceStep* const> steps);

/// Whether the name of a range says that cause.
bool says_between(const trace::Trace& trace, trace::StringId name, BetweenCause cause);

/// One cause of the time that belongs to no step.
struct BetweenWork {
  const DevicePartition* partition = nullptr;  ///< where it takes most; null: no step is steady
  DurationNs per_step;                         ///< on average over the steady steps
  std::int64_t steps = 0;                      ///< steady ones
  /// After one step, or inside it.
  struct Occasion {
    Interval where;        ///< from the first to the last of it
    trace::RangeId range;  ///< that says so, the longest
    DurationNs time;
    std::int64_t step = 0;  ///< its number
  };
  std::vector<Occasion> occasions;  ///< by time
  std::int64_t every = 0;  ///< steps from one to the next where that is always the same; else 0
};
BetweenWork between_work(const RuleContext& context, BetweenCause cause);

/// "4 times in 48 steps, 25.1 ms each, every 12 steps".
std::string frequency(const BetweenWork& work);
/// The longest occasions, with what they take.
std::vector<Evidence> occasions_of(const RuleContext& context, const BetweenWork& work);

}  // namespace headway::analyzer
