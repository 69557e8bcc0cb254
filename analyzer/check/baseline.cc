// SPDX-License-Identifier: MIT
#include "analyzer/check/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "analyzer/check/budget.h"
#include "analyzer/partition/steady_ops.h"
#include "common/format.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kSignificance = 0.05;
/// With fewer steps a side neither the rank test nor the bootstrap can tell anything; as in diff.
constexpr std::size_t kMinSteps = 5;

constexpr std::array<std::pair<const char*, TimeGroup>, 5> kGroups = {
    {{"compute", TimeGroup::kCompute},
     {"communication", TimeGroup::kCommunication},
     {"copy", TimeGroup::kCopy},
     {"input", TimeGroup::kInput},
     {"host", TimeGroup::kHost}}};

using TimeOf = std::function<DurationNs(const ClassTimes&)>;

/// What of a step the metric is about; nothing for the whole step.
std::optional<TimeOf> part_of(std::string_view metric) {
  for (const TimeClassInfo& c : time_classes()) {
    if (metric == fmt::format("vs_baseline.class.{}", c.id))
      return [id = c.time_class](const ClassTimes& times) { return times[id]; };
  }
  for (const auto& [id, group] : kGroups) {
    if (metric == fmt::format("vs_baseline.group.{}", id))
      return [g = group](const ClassTimes& times) { return times.of_group(g); };
  }
  return std::nullopt;
}

/// The figure in each counted step of the first device; the host's steps where no device has any.
std::vector<double> samples(const Analysis& analysis, const std::optional<TimeOf>& part) {
  std::vector<double> values;
  if (!analysis.partitions.empty() && !analysis.steps.all.empty()) {
    for (const DeviceStep& step : analysis.partitions.front().steps) {
      if (counts(analysis.steps, step))
        values.push_back(
            static_cast<double>(part ? (*part)(step.times).ns : step.interval.length().ns));
    }
  }
  return values.empty() && !part ? analysis.steps.steady_durations_ns() : values;
}

std::string percent(double value) {
  return fmt::format("{:+.1f} %", 100 * value);
}

struct Compared {
  double change = 0;
  Bounds interval;
  double p_value = 1;
};

Compared compare_steps(const DiffRun& baseline, const DiffRun& run) {
  Comparison step = diff({&baseline, 1}, {&run, 1}, 0).step;
  return {step.change, step.interval, step.p_value};
}

/// Both sides are lifted by what else the baseline's median step holds. The ratio of the lifted
/// medians is then the growth of the part as a share of that step, and a part that was 0 works too.
Compared compare_parts(std::vector<double> before, std::vector<double> after, double step) {
  double lift = step - median(before);
  for (double& value : before) value += lift;
  for (double& value : after) value += lift;
  return {median(after) / median(before) - 1, bootstrap_median_change(before, after, kConfidence),
          mann_whitney_p(before, after)};
}

}  // namespace

std::vector<Metric> baseline_metrics() {
  std::vector<Metric> out;
  out.push_back({"vs_baseline.step", "%", "Growth of the median step over the baseline's.", {}});
  for (const auto& [id, group] : kGroups) {
    out.push_back(
        {fmt::format("vs_baseline.group.{}", id),
         "%",
         "Growth of that group's median time per step, as a share of the baseline's step.",
         {}});
  }
  for (const TimeClassInfo& c : time_classes()) {
    out.push_back(
        {fmt::format("vs_baseline.class.{}", c.id),
         "%",
         "Growth of that class's median time per step, as a share of the baseline's step.",
         {}});
  }
  return out;
}

BaselineChange baseline_change(const std::string& metric, const DiffRun& baseline,
                               const DiffRun& run) {
  std::optional<TimeOf> part = part_of(metric);
  std::vector<double> before = samples(baseline.analysis, part);
  std::vector<double> after = samples(run.analysis, part);
  BaselineChange result;
  if (before.size() < kMinSteps || after.size() < kMinSteps) {
    result.sentence = fmt::format(
        "{} and {} steady steps are too few to tell change from noise (at least {} a side)",
        before.size(), after.size(), kMinSteps);
    return result;
  }
  double step = median(samples(baseline.analysis, std::nullopt));
  if (step <= 0) {
    result.sentence = "the baseline's steps take no time";
    return result;
  }
  Compared compared = part ? compare_parts(before, after, step) : compare_steps(baseline, run);
  result.enough_steps = true;
  result.change = compared.change;
  bool excludes_zero = compared.interval.low > 0 || compared.interval.high < 0;
  result.significant = excludes_zero && compared.p_value < kSignificance;
  result.detectable = (compared.interval.high - compared.interval.low) / 2;
  result.sentence =
      fmt::format("{} (95 % interval {} to {}, p = {:.2g}, {} and {} steps): {}",
                  percent(result.change), percent(compared.interval.low),
                  percent(compared.interval.high), compared.p_value, before.size(), after.size(),
                  result.significant
                      ? std::string("significant")
                      : fmt::format("not significant; changes below {:.1f} % cannot be seen here",
                                    100 * result.detectable));
  return result;
}

}  // namespace headway::analyzer
