// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/evidence/rule.h"

/// Helpers for all rules.
namespace headway::analyzer {

/// Least share of the step for a finding; the published detectors of input pipelines and of the
/// PyTorch profiler use the same 5 %.
inline constexpr double kFindingShare = 0.05;

/// Time per steady step in the named classes, on the device where their share is largest.
struct ClassShare {
  const DevicePartition* device = nullptr;  ///< null: no device has a steady step
  DurationNs time;
  DurationNs step;  ///< mean steady step of that device
  double share() const { return ratio(time, step); }
};
ClassShare worst_share(const RuleContext& context, std::initializer_list<TimeClass> classes);
/// The same, but training threads of programs without a device count, too. worst_share() includes
/// them only if all classes are of input.
ClassShare worst_share_with_hosts(const RuleContext& context,
                                  std::initializer_list<TimeClass> classes);

/// The longest segments of the named classes in steady steps, worst first, at most `limit`;
/// adjoining segments of those classes count as one piece of evidence. `note` is called with the
/// segment that dominates it.
std::vector<Evidence> longest_segments(const RuleContext& context, const DevicePartition& device,
                                       std::initializer_list<TimeClass> classes,
                                       std::string (*note)(const RuleContext&, const Segment&),
                                       std::size_t limit = 12);

/// New findings with the fields of their status set.
Finding found(const Rule& rule, DurationNs recoverable_per_step, const RuleContext& context);
/// `exposed`: the time of the cause, where it decides which of several rules names a fix that gains.
Finding fine(const Rule& rule, std::string what_was_checked, DurationNs exposed = {});
Finding cannot_tell(const Rule& rule, std::string what_is_missing);

/// "12.3 ms of the 100 ms step (12.3 %)"; "none" if the time is 0; "span" instead of "step" if the
/// trace has no steps.
std::string of_step(const RuleContext& context, DurationNs time, DurationNs step);
/// "per step", or "in all" without steps.
std::string_view per_step(const RuleContext& context);
/// "thread 'loader 0'" or "thread 123".
std::string thread_label(const trace::Trace& trace, trace::ThreadId thread);
/// The recorded settings as "a=1 b=2"; settings that were not recorded are left out.
std::string settings(const trace::Trace& trace, std::initializer_list<std::string_view> names);

}  // namespace headway::analyzer
