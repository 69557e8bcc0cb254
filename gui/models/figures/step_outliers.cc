// SPDX-License-Identifier: MIT
#include "gui/models/figures/step_outliers.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/format.h"
#include "common/statistics.h"

namespace headway::gui {
namespace {

using analyzer::TimeClass;

constexpr std::size_t kLeastSteps = 5;
constexpr double kRobustDeviations = 5;
constexpr double kMadToDeviation = 1.4826;  // for a normal distribution
constexpr double kLeastExcess = 0.1;        // of the median: less is not relevant

std::vector<double> sorted_lengths(const StepChart& chart) {
  std::vector<double> lengths;
  for (const StepBar& bar : chart.bars) {
    if (bar.steady) lengths.push_back(static_cast<double>(bar.length().ns));
  }
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

/// The median of each class over the steady steps.
analyzer::ClassTimes median_classes(const StepChart& chart) {
  analyzer::ClassTimes medians;
  for (TimeClass c : chart.classes) {
    std::vector<double> times;
    for (const StepBar& bar : chart.bars) {
      if (bar.steady) times.push_back(static_cast<double>(bar.times[c].ns));
    }
    medians[c] = {static_cast<std::int64_t>(median(times))};
  }
  return medians;
}

void explain(StepOutlier& outlier, const StepChart& chart, const analyzer::ClassTimes& medians) {
  const StepBar& bar = chart.bars[outlier.bar];
  for (TimeClass c : chart.classes) {
    DurationNs growth = bar.times[c] - medians[c];
    if (growth <= outlier.growth) continue;
    outlier.growth = growth;
    outlier.grown = c;
  }
  if (!outlier.grown) {
    outlier.reason = "no class grew: the cause is not recorded";
    return;
  }
  const analyzer::TimeClassInfo& info = analyzer::info(*outlier.grown);
  outlier.reason = fmt::format("{} took {} instead of {}", info.label,
                               format_duration(bar.times[*outlier.grown]),
                               format_duration(medians[*outlier.grown]));
  double share = ratio(outlier.growth, outlier.excess);
  if (share < 0.995) outlier.reason += fmt::format(", {} of the excess", format_percent(share));
}

}  // namespace

StepSpread spread_of(const StepChart& chart) {
  StepSpread spread;
  std::vector<double> lengths = sorted_lengths(chart);
  spread.steps = static_cast<std::int64_t>(lengths.size());
  if (lengths.empty()) {
    spread.text = "There is no steady step to compare with.";
    return spread;
  }
  auto at = [&](double p) {
    return DurationNs{static_cast<std::int64_t>(percentile_sorted(lengths, p))};
  };
  spread.p50 = at(0.5);
  spread.p90 = at(0.9);
  spread.p99 = at(0.99);
  spread.least = at(0);
  spread.most = at(1);
  std::string range = fmt::format("{} steady steps: median {}, 90 % within {}, slowest {}",
                                  spread.steps, format_duration(spread.p50),
                                  format_duration(spread.p90), format_duration(spread.most));
  if (lengths.size() < kLeastSteps) {
    spread.text = range + ". Too few to detect outliers: record at least five steady steps.";
    return spread;
  }
  double deviation = kMadToDeviation * median_absolute_deviation(lengths);
  double middle = static_cast<double>(spread.p50.ns);
  double excess = std::max(kRobustDeviations * deviation, kLeastExcess * middle);
  spread.limit = {static_cast<std::int64_t>(middle + excess)};
  analyzer::ClassTimes medians = median_classes(chart);
  for (std::uint32_t b = 0; b < chart.bars.size(); ++b) {
    const StepBar& bar = chart.bars[b];
    if (!bar.steady || bar.length() <= spread.limit) continue;
    StepOutlier& outlier = spread.outliers.emplace_back();
    outlier.bar = b;
    outlier.excess = bar.length() - spread.p50;
    explain(outlier, chart, medians);
  }
  std::stable_sort(spread.outliers.begin(), spread.outliers.end(),
                   [](const StepOutlier& a, const StepOutlier& b) { return a.excess > b.excess; });
  spread.text = spread.outliers.empty()
                    ? fmt::format("{}. No outliers: none is longer than {}.", range,
                                  format_duration(spread.limit))
                    : fmt::format("{}. {} longer than {}.", range,
                                  spread.outliers.size() == 1
                                      ? std::string("1 outlier is")
                                      : fmt::format("{} outliers are", spread.outliers.size()),
                                  format_duration(spread.limit));
  return spread;
}

LinkedTable outlier_table(const StepChart& chart, const StepSpread& spread) {
  using analyzer::ColumnKind;
  LinkedTable out;
  out.table.id = "step-outliers";
  out.table.title = "Outliers";
  out.table.columns = {{"reason", "Reason", ColumnKind::kText},
                       {"step", "Step", ColumnKind::kRaw},
                       {"length_ns", "Length", ColumnKind::kDuration},
                       {"excess_ns", "Over the median", ColumnKind::kDuration},
                       {"excess", "", ColumnKind::kPercent}};
  out.docs = {"Class that grew most over its median", "As counted by the program", "On the device",
              "Step time minus the median step", "The same, as a share of the median step"};
  for (const StepOutlier& outlier : spread.outliers) {
    const StepBar& bar = chart.bars[outlier.bar];
    out.table.rows.push_back({outlier.reason, bar.number, bar.length().ns, outlier.excess.ns,
                              ratio(outlier.excess, spread.p50)});
    out.links.push_back(Target::step(bar.step));
  }
  return out;
}

StepHistogram histogram_of(const StepChart& chart, int bins) {
  StepHistogram histogram;
  std::vector<double> lengths = sorted_lengths(chart);
  if (lengths.empty() || bins < 1) return histogram;
  // One very long step must not push all others into the first bin.
  double low = lengths.front();
  double high = std::min(lengths.back(), percentile_sorted(lengths, 0.5) * 3);
  double width = std::max(1.0, (high - low) / bins);
  histogram.begin = {static_cast<std::int64_t>(low)};
  histogram.width = {static_cast<std::int64_t>(width)};
  histogram.bins.assign(static_cast<std::size_t>(bins), 0);
  for (double length : lengths) {
    std::size_t bin =
        static_cast<std::size_t>(std::min<double>(bins - 1, std::max(0.0, (length - low) / width)));
    histogram.highest = std::max(histogram.highest, ++histogram.bins[bin]);
  }
  return histogram;
}

}  // namespace headway::gui
