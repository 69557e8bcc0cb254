// SPDX-License-Identifier: MIT
#include "analyzer/diff/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace headway::analyzer {
namespace {

constexpr double kConfidence = 0.95;
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

/// A run is drawn, then as many of its steps as it has. Modulo instead of a distribution of the
/// standard library: those differ between libraries, and the report must not.
double resampled_median(const RunSamples& runs, std::mt19937_64& random,
                        std::vector<double>& scratch) {
  scratch.clear();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::vector<double>& run = runs[random() % runs.size()];
    for (std::size_t k = 0; k < run.size(); ++k) scratch.push_back(run[random() % run.size()]);
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
  for (int i = 0; i < kResamples; ++i) {
    double before = resampled_median(a, random, scratch);
    double after = resampled_median(b, random, scratch);
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

/// Welch's interval of the difference of the runs' log medians, as a relative change.
Bounds welch(const RunSamples& a, const RunSamples& b) {
  struct Moments {
    double mean = 0;
    double variance_of_mean = 0;
    double freedom = 0;
  };
  auto moments = [](const RunSamples& runs) {
    std::vector<double> logs;
    for (const std::vector<double>& run : runs)
      logs.push_back(std::log(std::max(1.0, median(run))));
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

Comparison compare(const RunSamples& a, const RunSamples& b) {
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
    Bounds runs = welch(a, b);
    result.interval = {std::min(steps.low, runs.low), std::max(steps.high, runs.high)};
  } else if (all_a.size() > 1 && all_b.size() > 1) {
    result.interval = hierarchical_bootstrap(a, b);
    result.p_value = mann_whitney_p(all_a, all_b);
  }
  double half_width = (result.interval.high - result.interval.low) / 2;
  result.minimum_detectable = half_width / kZ95 * (kZ95 + kZ80);
  return result;
}

}  // namespace headway::analyzer
