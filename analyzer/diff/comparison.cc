// SPDX-License-Identifier: MIT
#include "analyzer/diff/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "common/block_bootstrap.h"

namespace headway::analyzer {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kSignificance = 0.05;
/// The ends of a 95 % interval then rest on 25 values each.
constexpr int kResamples = 1000;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// z for 95 % two-sided and for 80 % power.
constexpr double kZ95 = 1.959964;
constexpr double kZ80 = 0.841621;

std::vector<double> pooled(const RunSamples& runs) {
  std::vector<double> all;
  for (const std::vector<double>& run : runs) all.insert(all.end(), run.begin(), run.end());
  return all;
}

/// A run is drawn, then as many of its steps as it has, in blocks. Modulo instead of a distribution
/// of the standard library: those differ between libraries, and the report must not.
double resampled_median(const RunSamples& runs, const std::vector<std::size_t>& blocks,
                        std::mt19937_64& random, std::vector<double>& scratch) {
  scratch.clear();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::size_t drawn = random() % runs.size();
    const std::vector<double>& run = runs[drawn];
    for (std::size_t k = 0; k < run.size();) {
      const std::size_t start = random() % (run.size() - blocks[drawn] + 1);
      for (std::size_t j = 0; j < blocks[drawn] && k < run.size(); ++j, ++k)
        scratch.push_back(run[start + j]);
    }
  }
  if (scratch.empty()) return 0;
  auto middle = scratch.begin() + static_cast<std::ptrdiff_t>(scratch.size() / 2);
  std::nth_element(scratch.begin(), middle, scratch.end());
  if (scratch.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(scratch.begin(), middle)) / 2;
}

Bounds hierarchical_bootstrap(const RunSamples& a, const RunSamples& b) {
  std::mt19937_64 random(1);
  std::vector<double> scratch;
  std::vector<double> changes;
  auto blocks_of = [](const RunSamples& runs) {
    std::vector<std::size_t> lengths;
    for (const std::vector<double>& run : runs) lengths.push_back(plan_blocks(run).length);
    return lengths;
  };
  const std::vector<std::size_t> blocks_a = blocks_of(a);
  const std::vector<std::size_t> blocks_b = blocks_of(b);
  for (int i = 0; i < kResamples; ++i) {
    double before = resampled_median(a, blocks_a, random, scratch);
    double after = resampled_median(b, blocks_b, random, scratch);
    if (before > 0) changes.push_back(after / before - 1);
  }
  std::sort(changes.begin(), changes.end());
  double tail = (1 - kConfidence) / 2;
  return {percentile_sorted(changes, tail), percentile_sorted(changes, 1 - tail)};
}

/// 97.5 % quantiles of Student's t for 1, 2, … degrees of freedom.
double t_quantile(double freedom) {
  static constexpr std::array<double, 30> kTable = {
      12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
      2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
      2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  auto index = static_cast<std::size_t>(std::max(1.0, std::floor(freedom)));
  return index <= kTable.size() ? kTable[index - 1] : kZ95;
}

/// Welch's interval of the difference of the logs of a figure of the runs, as a relative change.
Bounds welch(const RunSamples& a, const RunSamples& b, double (*figure)(std::span<const double>)) {
  struct Moments {
    double mean = 0;
    double variance_of_mean = 0;
    double freedom = 0;
  };
  auto moments = [&](const RunSamples& runs) {
    std::vector<double> logs;
    for (const std::vector<double>& run : runs)
      logs.push_back(std::log(std::max(1.0, figure(run))));
    Moments m;
    auto n = static_cast<double>(logs.size());
    for (double x : logs) m.mean += x / n;
    for (double x : logs) m.variance_of_mean += (x - m.mean) * (x - m.mean) / (n - 1) / n;
    m.freedom = n - 1;
    return m;
  };
  Moments x = moments(a);
  Moments y = moments(b);
  double variance = x.variance_of_mean + y.variance_of_mean;
  double difference = y.mean - x.mean;
  if (variance <= 0) return {std::expm1(difference), std::expm1(difference)};
  double freedom = variance * variance /
                   (x.variance_of_mean * x.variance_of_mean / x.freedom +
                    y.variance_of_mean * y.variance_of_mean / y.freedom);
  double half = t_quantile(freedom) * std::sqrt(variance);
  return {std::expm1(difference - half), std::expm1(difference + half)};
}

/// The least change that is found with 80 % power where the interval is that wide.
double detectable_of(Bounds interval) {
  return (interval.high - interval.low) / 2 / kZ95 * (kZ95 + kZ80);
}

}  // namespace

double cliffs_delta(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return 0;
  std::vector<double> sorted(b.begin(), b.end());
  std::sort(sorted.begin(), sorted.end());
  double sum = 0;
  for (double x : a) {
    auto [low, high] = std::equal_range(sorted.begin(), sorted.end(), x);
    sum += static_cast<double>(sorted.end() - high) - static_cast<double>(low - sorted.begin());
  }
  return sum / (static_cast<double>(a.size()) * static_cast<double>(b.size()));
}

Comparison compare_cost(const RunSamples& a, const RunSamples& b) {
  Comparison result;
  std::vector<double> all_a = pooled(a);
  std::vector<double> all_b = pooled(b);
  result.a = mean(all_a);
  result.b = mean(all_b);
  result.cliffs_delta = cliffs_delta(all_a, all_b);
  result.between_runs = a.size() > 1 && b.size() > 1;
  const MeanChange change = compare_means(all_a, all_b);
  result.change = change.change;
  result.interval = change.interval;
  result.p_value = change.p_value;
  result.minimum_detectable = change.detectable;
  if (result.between_runs) {
    Bounds runs = welch(a, b, mean);
    result.interval = {std::min(result.interval.low, runs.low),
                       std::max(result.interval.high, runs.high)};
    result.minimum_detectable = std::max(change.detectable, detectable_of(runs));
  }
  return result;
}

Comparison compare_typical(const RunSamples& a, const RunSamples& b) {
  Comparison result;
  std::vector<double> all_a = pooled(a);
  std::vector<double> all_b = pooled(b);
  result.a = median(all_a);
  result.b = median(all_b);
  if (result.a > 0) result.change = result.b / result.a - 1;
  result.cliffs_delta = cliffs_delta(all_a, all_b);
  result.between_runs = a.size() > 1 && b.size() > 1;
  result.interval = {-kInfinity, kInfinity};
  if (result.between_runs) {
    Bounds steps = hierarchical_bootstrap(a, b);
    Bounds runs = welch(a, b, median);
    result.interval = {std::min(steps.low, runs.low), std::max(steps.high, runs.high)};
  } else if (all_a.size() > 1 && all_b.size() > 1) {
    result.interval = hierarchical_bootstrap(a, b);
    result.p_value = mann_whitney_p(all_a, all_b, rank_design_effect(all_a, all_b));
  }
  result.minimum_detectable = detectable_of(result.interval);
  return result;
}

bool is_significant(const Comparison& c) {
  const bool excludes_zero = c.interval.low > 0 || c.interval.high < 0;
  return excludes_zero && (c.between_runs || c.p_value < kSignificance);
}

}  // namespace headway::analyzer
