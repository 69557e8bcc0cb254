// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// Limit in ns above which a time between steps is a pause: median + max(5 MAD, 10 % of `step`).
double pause_limit(std::span<const double> between, DurationNs step);

/// Host time that no range names: between steps, and also inside steps if some of them have far
/// more of it than the others.
struct HostPauses {
  static constexpr std::int64_t kLeastSteps = 10;  ///< with fewer, the usual time is not known
  const DevicePartition* partition = nullptr;      ///< where it costs most; null: no step is steady
  /// The unnamed time before and in one step; a pause if it is far longer than usual.
  struct Pause {
    Interval where;  ///< from the start of its first piece to the end of its last
    EventRef event;  ///< a range in its longest piece that gives no reason; none if unknown
    DurationNs time;
    DurationNs inside;     ///< the part of `time` inside the step
    std::size_t step = 0;  ///< index of the step among the steady ones
  };
  std::vector<Pause> between;  ///< of all steady steps with unnamed time, in step order
  std::vector<Pause> pauses;   ///< those of `between` that exceed pause_limit()
  std::int64_t steps = 0;      ///< number of steady steps
  DurationNs usual;            ///< median of the unnamed time between two steps
  DurationNs per_step;  ///< excess of the pauses over the median, averaged over the steady steps
  DurationNs inside;    ///< the part of `per_step` inside steps
  std::set<trace::StringId>
      around;              ///< names of the steps and phases around the unnamed time in steps
  std::int64_t every = 0;  ///< steps from one pause to the next if always the same; else 0
};
HostPauses find_host_pauses(const RuleContext& context);

/// True if unnamed time takes so much of the usual step that every step has a pause.
bool has_pause_each_step(const RuleContext& context, const HostPauses& pauses);
/// True if the pauses cost enough for a finding. Rules also require kLeastSteps steps.
bool is_worth_a_finding(const RuleContext& context, const HostPauses& pauses);

}  // namespace headway::analyzer
