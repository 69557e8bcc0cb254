// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/evidence/rule.h"
#include "analyzer/model/between_cause.h"
#include "analyzer/partition/partition.h"

namespace headway::analyzer {

/// The cause of most of the time between steps, over these steps of `partition`.
const BetweenCauseInfo& main_between_cause(const trace::Trace& trace,
                                           const DevicePartition& partition,
                                           std::span<const DeviceStep* const> steps);

/// True if the range name `name` stands for `cause`.
bool says_between(const trace::Trace& trace, trace::StringId name, BetweenCause cause);

/// One cause of the time that belongs to no step.
struct BetweenWork {
  const DevicePartition* partition = nullptr;  ///< with the most of it; null: no step is steady
  DurationNs per_step;                         ///< on average over the steady steps
  std::int64_t steps = 0;                      ///< number of steady steps
  /// The time of the cause that counts for one step.
  struct Occasion {
    Interval where;        ///< from the start of its first piece to the end of its last
    trace::RangeId range;  ///< the range of its longest piece
    DurationNs time;
    std::int64_t step = 0;  ///< number of the step
  };
  std::vector<Occasion> occasions;  ///< in step order
  std::int64_t every = 0;  ///< steps from one occasion to the next if always the same; else 0
};
BetweenWork between_work(const RuleContext& context, BetweenCause cause);

/// "4 times in 48 steps, 25.1 ms each, every 12 steps".
std::string frequency(const BetweenWork& work);
/// The longest occasions (at most 12), each with its duration.
std::vector<Evidence> occasions_of(const RuleContext& context, const BetweenWork& work);

}  // namespace headway::analyzer
