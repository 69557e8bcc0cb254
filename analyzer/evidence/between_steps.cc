// SPDX-License-Identifier: MIT
#include "analyzer/evidence/between_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/partition/steady_ops.h"
#include "analyzer/steps/range_names.h"
#include "common/format.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

using trace::RangeId;

/// Visits the segments before a step that lie between steps.
template <class Visit>
void for_each_between(const DevicePartition& partition, const DeviceStep& step, Visit visit) {
  for (std::uint32_t i = 0; i < step.segment_count; ++i) {
    const Segment& segment = partition.segments[step.first_segment + i];
    if (segment.time_class == TimeClass::kBetweenSteps) visit(segment);
  }
}

void find_occasions(const RuleContext& context, BetweenCause cause, BetweenWork& work) {
  for (const DeviceStep& step : work.partition->steps) {
    if (!counts(context.steps, step)) continue;
    ++work.steps;
    BetweenWork::Occasion one;
    DurationNs longest;
    for_each_between(*work.partition, step, [&](const Segment& segment) {
      if (segment.cause.kind != EventRef::Kind::kRange) return;
      const RangeId range{segment.cause.index};
      if (!says_between(context.trace, context.trace.ranges.name[range.value], cause)) return;
      if (one.time.ns == 0) one.where.begin = segment.interval.begin;
      one.where.end = segment.interval.end;
      one.time += segment.interval.length();
      if (segment.interval.length() <= longest) return;
      longest = segment.interval.length();
      one.range = range;
    });
    if (one.time.ns == 0) continue;
    one.step = context.steps.all.empty() ? 0 : context.steps.all[step.step].number;
    work.occasions.push_back(one);
  }
}

/// 0 if it varies or occurs too rarely.
std::int64_t period(const std::vector<BetweenWork::Occasion>& occasions) {
  if (occasions.size() < 3) return 0;
  const std::int64_t first = occasions[1].step - occasions[0].step;
  for (std::size_t i = 2; i < occasions.size(); ++i)
    if (occasions[i].step - occasions[i - 1].step != first) return 0;
  return first;
}

}  // namespace

const BetweenCauseInfo& main_between_cause(const trace::Trace& trace,
                                           const DevicePartition& partition,
                                           std::span<const DeviceStep* const> steps) {
  const RangeNames names(trace);
  BetweenTimes times;
  for (const DeviceStep* step : steps) {
    for_each_between(partition, *step, [&](const Segment& segment) {
      const bool named = segment.cause.kind == EventRef::Kind::kRange;
      times[named ? names[RangeId{segment.cause.index}].between : BetweenCause::kOther] +=
          segment.interval.length();
    });
  }
  auto most = std::max_element(times.of.begin(), times.of.end());
  return between_causes()[static_cast<std::size_t>(most - times.of.begin())];
}

bool says_between(const trace::Trace& trace, trace::StringId name, BetweenCause cause) {
  return between_cause_of_name(without_numbering(trace.strings[name])) == cause;
}

BetweenWork between_work(const RuleContext& context, BetweenCause cause) {
  BetweenWork work;
  for (const DevicePartition& one : context.partitions) {
    if (one.steady_steps == 0) continue;
    if (work.partition && one.between[cause] <= work.per_step) continue;
    work.partition = &one;
    work.per_step = one.between[cause];
  }
  if (!work.partition || work.per_step.ns == 0) return work;
  find_occasions(context, cause, work);
  work.every = period(work.occasions);
  return work;
}

std::string frequency(const BetweenWork& work) {
  std::vector<double> times;
  for (const BetweenWork::Occasion& one : work.occasions)
    times.push_back(static_cast<double>(one.time.ns));
  const DurationNs each{times.empty() ? 0 : static_cast<std::int64_t>(median(times))};
  const std::string count =
      work.occasions.size() == 1 ? "once" : fmt::format("{} times", work.occasions.size());
  return fmt::format("{} in {} steps, {}{}{}", count, work.steps, format_duration(each),
                     work.occasions.size() == 1 ? "" : " each",
                     work.every > 1 ? fmt::format(", every {} steps", work.every) : "");
}

std::vector<Evidence> occasions_of(const RuleContext& context, const BetweenWork& work) {
  std::vector<BetweenWork::Occasion> longest = work.occasions;
  std::ranges::stable_sort(longest, std::ranges::greater{}, &BetweenWork::Occasion::time);
  constexpr std::size_t kMost = 12;
  if (longest.size() > kMost) longest.resize(kMost);
  std::vector<Evidence> list;
  for (const BetweenWork::Occasion& one : longest)
    list.push_back({one.where, EventRef::of(one.range),
                    fmt::format("'{}' after the start of step {} takes {}",
                                name_of(context.trace, EventRef::of(one.range)), one.step,
                                format_duration(one.time))});
  return list;
}

}  // namespace headway::analyzer
