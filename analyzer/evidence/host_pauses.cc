// SPDX-License-Identifier: MIT
#include "analyzer/evidence/host_pauses.h"

#include <algorithm>
#include <map>

#include "analyzer/evidence/support.h"
#include "analyzer/partition/steady_ops.h"
#include "analyzer/steps/range_names.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

using trace::RangeId;

constexpr double kMads = 5;
constexpr double kLeastOfStep = 0.1;

/// The host's time before each step and after it, by step: from one step of its thread to the next.
class Gaps {
 public:
  explicit Gaps(const Steps& steps) : around_(steps.all.size()) {
    std::map<trace::ThreadId, std::size_t> last;
    for (std::size_t i = 0; i < steps.all.size(); ++i) {
      const auto [before, first] = last.try_emplace(steps.all[i].thread, i);
      if (!first) {
        const Interval gap{steps.all[before->second].host.end, steps.all[i].host.begin};
        around_[before->second].after = gap;
        around_[i].before = gap;
        before->second = i;
      }
    }
  }
  /// The part of `where` that lies in a gap beside that step.
  Interval in(std::size_t step, Interval where) const {
    const Interval before = intersect(where, around_[step].before);
    return before.empty() ? intersect(where, around_[step].after) : before;
  }

 private:
  struct Around {
    Interval before;
    Interval after;
  };
  std::vector<Around> around_;
};

/// Where the device waits in a segment for what the host does between steps, and no range names; empty: it does not. A wait at
/// a step's end answers for what comes after it, as far as the host would have been ahead; that the host did nothing
/// for the next step then is true all the same.
Interval unnamed_in(const Segment& segment, const RangeNames& names, const Gaps& gaps,
                    std::size_t step) {
  const bool ranged = segment.cause.kind == EventRef::Kind::kRange;
  if (ranged && names[RangeId{segment.cause.index}].between != BetweenCause::kOther) return {};
  if (segment.time_class == TimeClass::kBetweenSteps) return segment.interval;
  const bool after_wait =
      (segment.time_class == TimeClass::kHostSync || segment.time_class == TimeClass::kAllocator) &&
      segment.cause.kind != EventRef::Kind::kCall;
  return after_wait ? gaps.in(step, segment.interval) : Interval{};
}

HostPauses::Pause unnamed_in(const DevicePartition& partition, const RangeNames& names,
                             const Gaps& gaps, const DeviceStep& step) {
  HostPauses::Pause pause;
  DurationNs longest;
  for (std::uint32_t i = 0; i < step.segment_count; ++i) {
    const Segment& segment = partition.segments[step.first_segment + i];
    const Interval where = unnamed_in(segment, names, gaps, step.step);
    if (where.empty()) continue;
    if (pause.time.ns == 0) pause.where.begin = where.begin;
    pause.where.end = where.end;
    pause.time += where.length();
    if (where.length() <= longest) continue;
    longest = where.length();
    pause.event = segment.cause.kind == EventRef::Kind::kRange ? segment.cause : EventRef{};
  }
  return pause;
}

std::int64_t period(const std::vector<HostPauses::Pause>& pauses) {
  if (pauses.size() < 3) return 0;
  const std::size_t first = pauses[1].step - pauses[0].step;
  for (std::size_t i = 2; i < pauses.size(); ++i)
    if (pauses[i].step - pauses[i - 1].step != first) return 0;
  return static_cast<std::int64_t>(first);
}

HostPauses pauses_of(const RuleContext& context, const DevicePartition& partition,
                     const RangeNames& names, const Gaps& gaps) {
  HostPauses result;
  result.partition = &partition;
  std::vector<double> lengths;
  std::vector<double> between;
  for (const DeviceStep& step : partition.steps) {
    if (!counts(context.steps, step)) continue;
    HostPauses::Pause one = unnamed_in(partition, names, gaps, step);
    one.step = lengths.size();
    lengths.push_back(static_cast<double>(step.interval.length().ns));
    between.push_back(static_cast<double>(one.time.ns));
    if (one.time.ns > 0) result.between.push_back(one);
  }
  result.steps = static_cast<std::int64_t>(lengths.size());
  result.usual = {static_cast<std::int64_t>(median(between))};
  const double limit = pause_limit(between, {static_cast<std::int64_t>(median(lengths))});
  for (const HostPauses::Pause& one : result.between)
    if (static_cast<double>(one.time.ns) > limit) result.pauses.push_back(one);
  DurationNs beyond;
  for (const HostPauses::Pause& one : result.pauses) beyond += one.time - result.usual;
  result.per_step = beyond / std::max<std::int64_t>(1, result.steps);
  result.every = period(result.pauses);
  return result;
}

}  // namespace

double pause_limit(std::span<const double> between, DurationNs step) {
  const std::vector<double> values(between.begin(), between.end());
  return median(values) + std::max(kMads * median_absolute_deviation(values),
                                   kLeastOfStep * static_cast<double>(step.ns));
}

HostPauses find_host_pauses(const RuleContext& context) {
  const RangeNames names(context.trace);
  HostPauses worst;
  if (context.steps.all.empty()) return worst;
  const Gaps gaps(context.steps);
  for (const DevicePartition& partition : context.partitions) {
    if (partition.steady_steps == 0) continue;
    HostPauses its = pauses_of(context, partition, names, gaps);
    if (!worst.partition || its.per_step + its.usual > worst.per_step + worst.usual)
      worst = std::move(its);
  }
  return worst;
}

bool has_pause_each_step(const RuleContext& context, const HostPauses& of) {
  // A loop around its steps always does something; a thread without a device computes there, too.
  constexpr double kOfDevice = 0.1;
  constexpr double kOfThread = 0.2;
  return of.partition &&
         ratio(of.usual, context.step) >= (of.partition->device.valid() ? kOfDevice : kOfThread);
}

bool is_worth_a_finding(const RuleContext& context, const HostPauses& of) {
  return of.steps >= HostPauses::kLeastSteps &&
         (has_pause_each_step(context, of) || ratio(of.per_step, context.step) >= kFindingShare);
}

}  // namespace headway::analyzer
