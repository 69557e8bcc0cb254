// SPDX-License-Identifier: MIT
#include "common/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace headway {
namespace {

std::vector<double> sorted_copy(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

double median_of_resample(std::span<const double> values, std::mt19937_64& random,
                          std::vector<double>& scratch) {
  scratch.resize(values.size());
  // Modulo of a 64-bit draw instead of uniform_int_distribution: the latter differs between
  // standard libraries, and a report must be the same everywhere. The bias is below 1e-12 at these
  // sizes.
  for (double& slot : scratch) slot = values[random() % values.size()];
  auto middle = scratch.begin() + static_cast<std::ptrdiff_t>(scratch.size() / 2);
  std::nth_element(scratch.begin(), middle, scratch.end());
  if (scratch.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(scratch.begin(), middle)) / 2;
}

}  // namespace

double percentile_sorted(std::span<const double> sorted, double p) {
  if (sorted.empty()) return 0;
  double position = std::clamp(p, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  auto low = static_cast<std::size_t>(position);
  std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (position - static_cast<double>(low));
}

double mean(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::span<const double> values) {
  return percentile_sorted(sorted_copy(values), 0.5);
}

double median_absolute_deviation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  double center = median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (double value : values) deviations.push_back(std::fabs(value - center));
  return median(deviations);
}

Bounds bootstrap_median_change(std::span<const double> a, std::span<const double> b,
                               double confidence, std::uint64_t seed, int resamples) {
  if (a.size() < 2 || b.size() < 2) {
    return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  }
  std::mt19937_64 random(seed);
  std::vector<double> scratch;
  std::vector<double> changes;
  changes.reserve(static_cast<std::size_t>(resamples));
  for (int i = 0; i < resamples; ++i) {
    double before = median_of_resample(a, random, scratch);
    double after = median_of_resample(b, random, scratch);
    if (before > 0) changes.push_back(after / before - 1);
  }
  std::sort(changes.begin(), changes.end());
  double tail = (1 - confidence) / 2;
  return {percentile_sorted(changes, tail), percentile_sorted(changes, 1 - tail)};
}

double mann_whitney_p(std::span<const double> a, std::span<const double> b, double design_effect) {
  if (a.size() < 2 || b.size() < 2) return 1;
  struct Ranked {
    double value;
    bool from_a;
  };
  std::vector<Ranked> all;
  for (double value : a) all.push_back({value, true});
  for (double value : b) all.push_back({value, false});
  std::sort(all.begin(), all.end(),
            [](const Ranked& x, const Ranked& y) { return x.value < y.value; });
  double rank_sum_a = 0;
  double tie_term = 0;
  for (std::size_t i = 0; i < all.size();) {
    std::size_t j = i;
    while (j < all.size() && all[j].value == all[i].value) ++j;
    double ties = static_cast<double>(j - i);
    double rank = (static_cast<double>(i) + 1 + static_cast<double>(j)) / 2;
    for (std::size_t k = i; k < j; ++k) rank_sum_a += all[k].from_a ? rank : 0;
    tie_term += ties * ties * ties - ties;
    i = j;
  }
  double n_a = static_cast<double>(a.size());
  double n_b = static_cast<double>(b.size());
  double n = n_a + n_b;
  double u = rank_sum_a - n_a * (n_a + 1) / 2;
  double variance = design_effect * n_a * n_b / 12 * (n + 1 - tie_term / (n * (n - 1)));
  if (variance <= 0) return 1;  // every value equal: no evidence of a difference
  double z = std::max(0.0, std::fabs(u - n_a * n_b / 2) - 0.5) / std::sqrt(variance);
  return std::erfc(z / std::sqrt(2.0));
}

}  // namespace headway
