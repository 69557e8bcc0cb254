// SPDX-License-Identifier: MIT
#include "analyzer/check/baseline.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "analyzer/check/budget.h"
#include "analyzer/diff/tables.h"
#include "analyzer/diff/verdict.h"
#include "analyzer/partition/steady_ops.h"
#include "common/format.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

/// Smaller detectable changes are not claimed: clocks and timestamps are no better.
constexpr double kLeastSaid = 0.001;
constexpr std::string_view kTypicalStep = "vs_baseline.typical_step";

constexpr std::array<std::pair<const char*, TimeGroup>, 5> kGroups = {
    {{"compute", TimeGroup::kCompute},
     {"communication", TimeGroup::kCommunication},
     {"copy", TimeGroup::kCopy},
     {"input", TimeGroup::kInput},
     {"host", TimeGroup::kHost}}};

using PartOf = std::function<DurationNs(const ClassTimes&)>;

/// The part of a step that the metric is about; nothing for the whole step.
std::optional<PartOf> part_of(std::string_view metric) {
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

/// The time of the part in each steady step of the slowest device or training thread, by time.
std::vector<double> samples(const Analysis& analysis, const std::optional<PartOf>& part) {
  if (!part) return step_durations(analysis);
  std::vector<double> values;
  const DevicePartition* partition = slowest_partition(analysis);
  if (!partition || analysis.steps.all.empty()) return values;
  for (const DeviceStep& step : partition->steps) {
    if (counts(analysis.steps, step)) values.push_back(static_cast<double>((*part)(step.times).ns));
  }
  return values;
}

std::string percent(double value) {
  return format_signed(100 * value) + " %";
}

/// Adds the rest of the baseline's mean step to both sides. The ratio of the lifted means is
/// then the growth of the part as a share of the step cost, and a part that was 0 works too.
Comparison compare_parts(std::vector<double> before, std::vector<double> after, double step) {
  const double lift = step - mean(before);
  for (double& value : before) value += lift;
  for (double& value : after) value += lift;
  return compare_cost({before}, {after});
}

}  // namespace

std::vector<Metric> baseline_metrics() {
  std::vector<Metric> out;
  out.push_back({"vs_baseline.step", "%", "Growth of the step cost over the baseline.", {}});
  out.push_back({std::string(kTypicalStep),
                 "%",
                 "Growth of the typical (median) step over the baseline; blind to rare slow steps.",
                 {}});
  for (const auto& [id, group] : kGroups) {
    out.push_back({fmt::format("vs_baseline.group.{}", id),
                   "%",
                   "Growth of the group's time per step, as a share of the baseline's step cost.",
                   {}});
  }
  for (const TimeClassInfo& c : time_classes()) {
    out.push_back({fmt::format("vs_baseline.class.{}", c.id),
                   "%",
                   "Growth of the class's time per step, as a share of the baseline's step cost.",
                   {}});
  }
  return out;
}

BaselineChange baseline_change(const std::string& metric, const DiffRun& baseline,
                               const DiffRun& run) {
  std::optional<PartOf> part = part_of(metric);
  std::vector<double> before = samples(baseline.analysis, part);
  std::vector<double> after = samples(run.analysis, part);
  BaselineChange result;
  if (before.size() < kLeastStepsASide || after.size() < kLeastStepsASide) {
    result.sentence = fmt::format(
        "{} and {} steady steps are too few to separate change from noise (at least {} per side)",
        before.size(), after.size(), kLeastStepsASide);
    return result;
  }
  const double step = mean(samples(baseline.analysis, std::nullopt));
  if (step <= 0) {
    result.sentence = "the baseline's steps take no time";
    return result;
  }
  const Comparison compared = part                     ? compare_parts(before, after, step)
                              : metric == kTypicalStep ? compare_typical({before}, {after})
                                                       : compare_cost({before}, {after});
  result.enough_steps = true;
  result.change = compared.change;
  result.significant = is_significant(compared);
  result.detectable = compared.minimum_detectable;
  result.sentence =
      fmt::format("{} (95 % interval {} to {}, {}, {} and {} steps): {}", percent(result.change),
                  percent(compared.interval.low), percent(compared.interval.high),
                  p_text(compared.p_value), before.size(), after.size(),
                  result.significant
                      ? std::string("significant")
                      : fmt::format("not significant; {} here", power_text(compared, kLeastSaid)));
  return result;
}

}  // namespace headway::analyzer
