// SPDX-License-Identifier: MIT
#include "analyzer/evidence/host_pauses.h"

#include <algorithm>

#include "analyzer/evidence/outlier_limit.h"
#include "analyzer/evidence/support.h"
#include "analyzer/partition/steady_ops.h"
#include "analyzer/steps/range_names.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

using trace::RangeId;

constexpr double kMads = 5;
constexpr double kLeastOfStep = 0.1;

/// The segment's interval if the device waits for unnamed host work between steps; else empty.
Interval unnamed_between(const Segment& segment, const RangeNames& names) {
  if (segment.host_class() != TimeClass::kBetweenSteps) return {};
  const bool ranged = segment.cause.kind == EventRef::Kind::kRange;
  if (ranged && names[RangeId{segment.cause.index}].between != BetweenCause::kOther) return {};
  return segment.interval;
}

/// The same for host work inside the step. Ranges of the step and its phases do not name the work; any other range does, and
/// host-bound reports it.
Interval unnamed_inside(const trace::Trace& trace, const Segment& segment, RangeId step) {
  if (segment.host_class() != TimeClass::kHostOther) return {};
  if (segment.cause.kind != EventRef::Kind::kRange) return segment.interval;
  const RangeId range{segment.cause.index};
  const trace::RangeInfo* info = trace.info(range);
  const bool is_part_of_step =
      (step.valid() && trace.ranges.name[range.value] == trace.ranges.name[step.value]) ||
      (info && (info->kind == trace::RangeKind::kStep || info->kind == trace::RangeKind::kPhase));
  return is_part_of_step ? segment.interval : Interval{};
}

/// Sum of the unnamed host time before and in one step.
class Sum {
 public:
  void add(const Segment& segment, Interval where, bool inside) {
    if (where.empty()) return;
    const bool ranged = segment.cause.kind == EventRef::Kind::kRange;
    if (pause_.time.ns == 0) pause_.where.begin = where.begin;
    pause_.where.end = where.end;
    pause_.time += where.length();
    if (inside) pause_.inside += where.length();
    if (where.length() <= longest_) return;
    longest_ = where.length();
    pause_.event = ranged && !inside ? segment.cause : EventRef{};
  }
  const HostPauses::Pause& pause() const { return pause_; }

 private:
  HostPauses::Pause pause_;
  DurationNs longest_;
};

HostPauses::Pause unnamed_in(const RuleContext& context, const DevicePartition& partition,
                             const RangeNames& names, const DeviceStep& step, bool inside,
                             std::set<trace::StringId>& around) {
  Sum sum;
  const RangeId range = context.steps.all[step.step].range;
  for (std::uint32_t i = 0; i < step.segment_count; ++i) {
    const Segment& segment = partition.segments[step.first_segment + i];
    sum.add(segment, unnamed_between(segment, names), false);
    if (!inside) continue;
    const Interval where = unnamed_inside(context.trace, segment, range);
    sum.add(segment, where, true);
    if (!where.empty() && segment.cause.kind == EventRef::Kind::kRange)
      around.insert(context.trace.ranges.name[segment.cause.index]);
  }
  return sum.pause();
}

/// True if too many steps have excess host time for step-outlier to report them.
bool pauses_inside(const RuleContext& context, const DevicePartition& partition) {
  std::vector<double> lengths;
  std::vector<double> inside;
  for (const DeviceStep& step : partition.steps) {
    if (!counts(context.steps, step)) continue;
    lengths.push_back(static_cast<double>(step.interval.length().ns));
    Sum sum;
    for (std::uint32_t i = 0; i < step.segment_count; ++i) {
      const Segment& segment = partition.segments[step.first_segment + i];
      sum.add(segment, unnamed_inside(context.trace, segment, context.steps.all[step.step].range),
              true);
    }
    inside.push_back(static_cast<double>(sum.pause().time.ns));
  }
  const double limit = pause_limit(inside, {static_cast<std::int64_t>(median(lengths))});
  const auto beyond = std::ranges::count_if(inside, [&](double time) { return time > limit; });
  return static_cast<double>(beyond) > kMostOutliers * static_cast<double>(inside.size()) + 0.5;
}

std::int64_t period(const std::vector<HostPauses::Pause>& pauses) {
  if (pauses.size() < 3) return 0;
  const std::size_t first = pauses[1].step - pauses[0].step;
  for (std::size_t i = 2; i < pauses.size(); ++i)
    if (pauses[i].step - pauses[i - 1].step != first) return 0;
  return static_cast<std::int64_t>(first);
}

HostPauses pauses_of(const RuleContext& context, const DevicePartition& partition,
                     const RangeNames& names) {
  HostPauses result;
  result.partition = &partition;
  const bool inside = pauses_inside(context, partition);
  std::vector<double> lengths;
  std::vector<double> between;
  std::vector<double> all;
  std::vector<double> in_step;
  for (const DeviceStep& step : partition.steps) {
    if (!counts(context.steps, step)) continue;
    HostPauses::Pause one = unnamed_in(context, partition, names, step, inside, result.around);
    one.step = lengths.size();
    lengths.push_back(static_cast<double>(step.interval.length().ns));
    all.push_back(static_cast<double>(one.time.ns));
    in_step.push_back(static_cast<double>(one.inside.ns));
    between.push_back(all.back() - in_step.back());
    if (one.time.ns > 0) result.between.push_back(one);
  }
  result.steps = static_cast<std::int64_t>(lengths.size());
  result.usual = {static_cast<std::int64_t>(median(between))};
  const double limit = pause_limit(all, {static_cast<std::int64_t>(median(lengths))});
  for (const HostPauses::Pause& one : result.between)
    if (static_cast<double>(one.time.ns) > limit) result.pauses.push_back(one);
  const DurationNs usual{static_cast<std::int64_t>(median(all))};
  const DurationNs usual_inside{static_cast<std::int64_t>(median(in_step))};
  DurationNs beyond;
  DurationNs beyond_inside;
  for (const HostPauses::Pause& one : result.pauses) {
    beyond += one.time - usual;
    beyond_inside += std::max(DurationNs{}, one.inside - usual_inside);
  }
  const std::int64_t steps = std::max<std::int64_t>(1, result.steps);
  result.per_step = beyond / steps;
  result.inside = beyond_inside / steps;
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
  for (const DevicePartition& partition : context.partitions) {
    if (partition.steady_steps == 0) continue;
    HostPauses its = pauses_of(context, partition, names);
    if (!worst.partition || its.per_step + its.usual > worst.per_step + worst.usual)
      worst = std::move(its);
  }
  return worst;
}

bool has_pause_each_step(const RuleContext& context, const HostPauses& of) {
  // A device idles in this time. A thread without a device also computes in it, so its limit is
  // higher.
  constexpr double kOfThread = 0.2;
  return of.partition && ratio(of.usual, context.step) >=
                             (of.partition->device.valid() ? kFindingShare : kOfThread);
}

bool is_worth_a_finding(const RuleContext& context, const HostPauses& of) {
  return has_pause_each_step(context, of) || ratio(of.per_step, context.step) >= kFindingShare;
}

}  // namespace headway::analyzer
