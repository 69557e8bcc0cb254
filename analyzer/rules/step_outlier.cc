// SPDX-License-Identifier: MIT
// step-outlier: some steps take much longer than the rest.
//
// Symptom: most steps take the same time, a few take far more; the mean exceeds the median.
// Mechanism: work outside most steps: a checkpoint, an evaluation, garbage collection, a slow
//   file, a network pause, new shapes.
// Formula: outliers are steady steps beyond median + max(5 MAD, 10 % of the median). Recoverable =
//   the sum of their excess over the median, divided by all steady steps. Fires from 2 % of the
//   step cost. The cause is the class with the largest growth over its median in the other steps.
//   For time between steps, the cause is the program's activity there, unless a separate finding
//   covers it (evaluation-time, host-pauses, …). More than a tenth of the steps form a second
//   mode, not outliers; the same holds for every n-th step waiting for n workers.
// Falsified by: step times that vary with the batch (the distribution is broad, MAD is large and
//   nothing is an outlier).
// Known false positives: outliers at the start, if automatic warm-up detection stops too early.
// Source: median and MAD are robust against the outliers themselves; three standard deviations are not.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzer/evidence/between_steps.h"
#include "analyzer/evidence/host_pauses.h"
#include "analyzer/evidence/loader.h"
#include "analyzer/evidence/outlier_limit.h"
#include "analyzer/evidence/outlier_work.h"
#include "analyzer/evidence/support.h"
#include "analyzer/partition/steady_ops.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

constexpr std::size_t kMinSteps = 10;
constexpr double kMads = 5;
constexpr double kMinExcess = 0.10;  ///< of the median, if the MAD is tiny
constexpr double kOutlierShare = 0.02;
constexpr double kFarBeyond = 5;  ///< as far as MADs are from the median

struct Outliers {
  const DevicePartition* device = nullptr;
  std::vector<const DeviceStep*> steps;  ///< in order of time
  std::vector<const DeviceStep*> usual;
  DurationNs median;
  DurationNs per_step;  ///< excess over all steady steps
};

Outliers find_outliers(const RuleContext& context, const DevicePartition& device) {
  Outliers result;
  result.device = &device;
  std::vector<double> durations;
  for (const DeviceStep& step : device.steps) {
    if (counts(context.steps, step))
      durations.push_back(static_cast<double>(step.interval.length().ns));
  }
  if (durations.size() < kMinSteps) return result;
  double middle = median(durations);
  double limit = outlier_limit(durations);
  result.median = {static_cast<std::int64_t>(middle)};
  DurationNs excess;
  for (const DeviceStep& step : device.steps) {
    if (!counts(context.steps, step)) continue;
    bool outlier = static_cast<double>(step.interval.length().ns) > limit;
    (outlier ? result.steps : result.usual).push_back(&step);
    if (outlier) excess += step.interval.length() - result.median;
  }
  result.per_step = excess / static_cast<std::int64_t>(durations.size());
  return result;
}

/// The class whose time grows most from the usual steps to the outliers.
TimeClass grown_class(const Outliers& outliers, DurationNs& growth) {
  TimeClass grown = TimeClass::kUnknown;
  growth = {0};
  for (const TimeClassInfo& info : time_classes()) {
    std::vector<double> usual;
    for (const DeviceStep* step : outliers.usual)
      usual.push_back(static_cast<double>(step->times[info.time_class].ns));
    DurationNs base{static_cast<std::int64_t>(median(usual))};
    DurationNs sum;
    for (const DeviceStep* step : outliers.steps) sum += step->times[info.time_class] - base;
    if (sum > growth) {
      growth = sum;
      grown = info.time_class;
    }
  }
  growth = growth / static_cast<std::int64_t>(std::max<std::size_t>(1, outliers.steps.size()));
  return grown;
}

/// Steps from one outlier to the next if always the same; else 0.
std::int64_t period(const RuleContext& context, const Outliers& outliers) {
  if (outliers.steps.size() < 3) return 0;
  auto number = [&](std::size_t i) { return context.steps.all[outliers.steps[i]->step].number; };
  std::int64_t first = number(1) - number(0);
  for (std::size_t i = 2; i < outliers.steps.size(); ++i) {
    if (number(i) - number(i - 1) != first) return 0;
  }
  return first;
}

/// True if the outliers come from the rhythm of workers: workers that begin together deliver
/// together, so with n workers, every n-th step waits.
bool is_rhythm_of_workers(const RuleContext& context, std::size_t outliers, std::size_t steps) {
  std::size_t workers = loader_work(context).at_once;
  return workers > 1 && outliers * workers + workers >= steps;
}

std::vector<Evidence> evidence(const RuleContext& context, const Outliers& outliers) {
  std::vector<const DeviceStep*> longest = outliers.steps;
  std::stable_sort(longest.begin(), longest.end(), [](const DeviceStep* a, const DeviceStep* b) {
    return a->interval.length() > b->interval.length();
  });
  if (longest.size() > 12) longest.resize(12);
  std::vector<Evidence> list;
  for (const DeviceStep* step : longest) {
    const Step& host = context.steps.all[step->step];
    list.push_back(
        {step->interval, host.range.valid() ? EventRef::of(host.range) : EventRef{},
         fmt::format("step {} takes {}, the median is {}", host.number,
                     format_duration(step->interval.length()), format_duration(outliers.median))});
  }
  return list;
}

Finding check(const Rule& rule, const RuleContext& context) {
  if (context.steps.all.empty())
    return cannot_tell(rule, "The trace has no steps; name their ranges with --step-range.");
  Outliers worst;
  std::size_t most_steps = 0;
  for (const DevicePartition& device : context.partitions) {
    most_steps = std::max(most_steps, static_cast<std::size_t>(device.steady_steps));
    if (static_cast<std::size_t>(device.steady_steps) < kMinSteps) continue;
    Outliers outliers = find_outliers(context, device);
    if (!worst.device || outliers.per_step > worst.per_step) worst = std::move(outliers);
  }
  if (!worst.device) {
    return cannot_tell(
        rule, fmt::format("{} steady steps are too few to detect outliers; record at least {}.",
                          most_steps, kMinSteps + 2));
  }
  if (ratio(worst.per_step, context.step) < kOutlierShare) {
    return fine(rule, fmt::format("{} of {} steps are outliers: {}.", worst.steps.size(),
                                  worst.steps.size() + worst.usual.size(),
                                  of_step(context, worst.per_step, context.step)));
  }
  std::size_t all = worst.steps.size() + worst.usual.size();
  if (static_cast<double>(worst.steps.size()) > kMostOutliers * static_cast<double>(all) + 0.5) {
    return fine(
        rule, fmt::format(
                  "{} of {} steps are far above the median of {}: normal variation, not outliers.",
                  worst.steps.size(), all, format_duration(worst.median)));
  }
  DurationNs growth;
  const TimeClassInfo& grown = info(grown_class(worst, growth));
  std::int64_t every = period(context, worst);
  if (grown.group == TimeGroup::kInput && is_rhythm_of_workers(context, worst.steps.size(), all)) {
    return fine(
        rule,
        "Steps wait for input at the pace at which all workers deliver together. See input-bound.");
  }
  const BetweenCauseInfo* between =
      grown.time_class == TimeClass::kBetweenSteps
          ? &main_between_cause(context.trace, *worst.device, worst.steps)
          : nullptr;
  if (between && between->cause == BetweenCause::kOther) between = nullptr;
  // A cause with a rule of its own must not make a second finding.
  const HostPauses pauses = find_host_pauses(context);
  if (pauses.steps >= HostPauses::kLeastSteps && is_worth_a_finding(context, pauses) &&
      2 * pauses.per_step.ns >= worst.per_step.ns)
    return fine(
        rule, fmt::format("{} of {} steps are slow because of unexplained pauses: see host-pauses.",
                          worst.steps.size(), all));
  if (between && ratio(worst.device->between[between->cause], context.step) >= kFindingShare)
    return fine(rule, fmt::format("{} of {} steps are slow because of {}, a separate finding.",
                                  worst.steps.size(), all, between->label));
  Finding finding = found(rule, worst.per_step, context);
  finding.sub_cause = between ? between->id : grown.id;
  OutlierWork work =
      outlier_work(context, *worst.device, worst.steps, worst.usual, grown.time_class);
  if (between) work.between = between->cause;
  finding.claim = fmt::format(
      "{} of {} steps take far more than the median of {}{}; averaged over all steps they cost {}. "
      "'{}' grows, by {} in each.{}",
      worst.steps.size(), all, format_duration(worst.median),
      every > 1 ? fmt::format(", one every {} steps", every) : "",
      of_step(context, worst.per_step, context.step), between ? between->label : grown.label,
      format_duration(growth), outlier_text(work));
  finding.confidence = 0.85;
  finding.evidence = evidence(context, worst);
  finding.advice = advice_for_outliers(context, work);
  return finding;
}

}  // namespace

double outlier_limit(std::span<const double> lengths) {
  const double middle = median(lengths);
  const double limit =
      middle + std::max(kMads * median_absolute_deviation(lengths), kMinExcess * middle);
  std::vector<double> sorted(lengths.begin(), lengths.end());
  std::sort(sorted.begin(), sorted.end());
  // If the usual steps vary more, outliers must stand out against the slowest tenth of the steps.
  const double tenth = percentile_sorted(sorted, 1 - kMostOutliers);
  return tenth <= limit ? limit : std::max(limit, middle + kFarBeyond * (tenth - middle));
}

extern const Rule kStepOutlier = {"step-outlier", "Outlier steps",
                                  "Steps beyond median + 5 MAD together cost over 2 % of the step.",
                                  check};

}  // namespace headway::analyzer
