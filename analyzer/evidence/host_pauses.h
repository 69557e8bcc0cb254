// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// Of the times between steps, in ns, the longest that is no pause: median + max(5 MAD, 10 % of `step`).
double pause_limit(std::span<const double> between, DurationNs step);

/// Time in which the host does what no range names: between steps; and inside of them, where some of the steps have far more of
/// it than the others.
struct HostPauses {
  static constexpr std::int64_t kLeastSteps = 10;  ///< fewer do not tell what is usual
  const DevicePartition* partition = nullptr;      ///< where it costs most; null: no step is steady
  /// What lies before one step, or in it; a pause where that is far longer than usual.
  struct Pause {
    Interval where;  ///< from the first to the last of it
    EventRef event;  ///< a range that lies in it, without saying why; none: nothing was recorded
    DurationNs time;
    DurationNs inside;     ///< of that, in the step
    std::size_t step = 0;  ///< index of the step before whose work it lies, among the steady ones
  };
  std::vector<Pause> between;  ///< before all steps that have any of it, by time
  std::vector<Pause> pauses;   ///< of those
  std::int64_t steps = 0;      ///< steady ones
  DurationNs usual;            ///< median of what no range names between two steps
  DurationNs per_step;  ///< of the pauses, beyond what is usual, on average over the steady steps
  DurationNs inside;    ///< of that, in steps
  std::set<trace::StringId>
      around;              ///< names of the steps and phases that the time in steps lies in
  std::int64_t every = 0;  ///< steps from one to the next where that is always the same; else 0
};
HostPauses find_host_pauses(const RuleContext& context);

/// True where what no range names takes so much of each step that no step is without a pause.
bool has_pause_each_step(const RuleContext& context, const HostPauses& pauses);
/// True where they cost as much as a finding does; of fewer than kLeastSteps no rule speaks.
bool is_worth_a_finding(const RuleContext& context, const HostPauses& pauses);

}  // namespace headway::analyzer
