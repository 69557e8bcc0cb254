// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/evidence/rule.h"

/// What rules have in common.
namespace headway::analyzer {

/// A cause is worth a finding from this share of the step on; the published detectors of input
/// pipelines and of the PyTorch profiler use the same 5 %.
inline constexpr double kFindingShare = 0.05;

/// Time per steady step that the named classes take, on the device where they take most.
struct ClassShare {
  const DevicePartition* device = nullptr;  ///< null: no device has a steady step
  DurationNs time;
  DurationNs step;  ///< mean steady step of that device
  double share() const { return ratio(time, step); }
};
ClassShare worst_share(const RuleContext& context, std::initializer_list<TimeClass> classes);
/// Also of programs without device work, on their training threads, as worst_share() does of input.
ClassShare worst_share_with_hosts(const RuleContext& context,
                                  std::initializer_list<TimeClass> classes);

/// The longest segments of the named classes in steady steps, worst first, at most `limit`;
/// adjoining segments of those classes count as one piece of evidence. `note` is called with the
/// segment that dominates it.
std::vector<Evidence> longest_segments(const RuleContext& context, const DevicePartition& device,
                                       std::initializer_list<TimeClass> classes,
                                       std::string (*note)(const RuleContext&, const Segment&),
                                       std::size_t limit = 12);

/// Starts of a finding.
Finding found(const Rule& rule, DurationNs recoverable_per_step, const RuleContext& context);
Finding fine(const Rule& rule, std::string what_was_checked);
Finding cannot_tell(const Rule& rule, std::string what_is_missing);

/// "12.3 ms of the 100 ms step (12.3 %)", "none" for no time; without steps the unit is the span of the device.
std::string of_step(const RuleContext& context, DurationNs time, DurationNs step);
/// "per step", or "in all" without steps.
std::string_view per_step(const RuleContext& context);
/// "thread 'loader 0'" or "thread 123".
std::string thread_label(const trace::Trace& trace, trace::ThreadId thread);
/// The recorded settings as "a=1 b=2"; those that the run did not tell are left out.
std::string settings(const trace::Trace& trace, std::initializer_list<std::string_view> names);

}  // namespace headway::analyzer
