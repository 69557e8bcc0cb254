// SPDX-License-Identifier: MIT
#include "common/block_bootstrap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace headway {
namespace {

constexpr double kZ95 = 1.959964;  ///< 95 %, two-sided
constexpr double kZ80 = 0.841621;  ///< 80 % power
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Values this many median absolute deviations above the median, and at least 25 % above it, are
/// outliers, as for the rule step-outlier.
constexpr double kMads = 5;
constexpr double kLeastExcess = 0.25;
/// Outliers are periodic if their distances differ by at most this share of the mean distance.
constexpr double kRegular = 0.05;
/// The standard deviation of a uniform phase between 0 and 1.
constexpr double kPhase = 0.2887;
constexpr double kSignificance = 0.05;
/// Lower bound of z for a pooled p near 1, so that the derived error stays finite.
constexpr double kLeastZ = 0.1;
/// Factor on the block length. The length that estimates the error best is too short for a test: it
/// hides part of the error.
constexpr double kLonger = 3;
/// Rounding: sums of the same values in different orders differ by less than this.
constexpr double kRounding = 1e-12;
/// Lower bound of the degrees of freedom: a t distribution with fewer says nothing.
constexpr double kLeastFreedom = 1;

double mean_of_values(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(std::span<const double> values) {
  const double mean = mean_of_values(values);
  double sum = 0;
  for (double x : values) sum += (x - mean) * (x - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

/// Autocorrelations at lags 0, 1, … `lags`; all 0 for a constant series.
std::vector<double> autocorrelation(std::span<const double> x, std::size_t lags) {
  std::vector<double> r(lags + 1, 0.0);
  const double mean = mean_of_values(x);
  for (std::size_t lag = 0; lag <= lags; ++lag) {
    for (std::size_t i = 0; i + lag < x.size(); ++i) r[lag] += (x[i] - mean) * (x[i + lag] - mean);
  }
  const double variance = r[0];
  for (double& one : r) one = variance > 0 ? one / variance : 0;
  return r;
}

/// The block length after Politis and White: the correlation reaches to the last lag before a run
/// of insignificant lags. A flat-top window of twice that reach gives the length with the least
/// error of the variance.
double correlated_length(std::span<const double> x) {
  const auto n = static_cast<double>(x.size());
  constexpr std::size_t kLeast = 8;
  if (x.size() < kLeast) return 1;
  const auto run = static_cast<std::size_t>(std::max(5.0, std::sqrt(std::log10(n))));
  const std::size_t most =
      std::min(x.size() / 3, static_cast<std::size_t>(std::ceil(std::sqrt(n))) + run);
  const std::vector<double> r = autocorrelation(x, std::min(most + run, x.size() - 1));
  const double insignificant = 2 * std::sqrt(std::log10(n) / n);
  std::size_t reach = 0;
  for (; reach < most; ++reach) {
    bool none = true;
    for (std::size_t lag = reach + 1; lag <= reach + run && lag < r.size(); ++lag)
      none = none && std::fabs(r[lag]) <= insignificant;
    if (none) break;
  }
  if (reach == 0) return 1;
  const std::size_t window = std::min(2 * reach, most);
  double weighted = 0;
  double variance = r[0];
  for (std::size_t lag = 1; lag <= window && lag < r.size(); ++lag) {
    const double at = static_cast<double>(lag) / static_cast<double>(window);
    const double flat_top = at <= 0.5 ? 1 : 2 * (1 - at);
    variance += 2 * flat_top * r[lag];
    weighted += 2 * flat_top * static_cast<double>(lag) * r[lag];
  }
  const double spread = 4.0 / 3 * variance * variance;
  const double longest = std::ceil(std::min(3 * std::sqrt(n), n / 3));
  if (spread <= 0) return longest;
  return std::clamp(kLonger * std::cbrt(2 * weighted * weighted / spread * n), 1.0, longest);
}

/// The indexes at which runs of outliers begin.
std::vector<std::size_t> outliers_of(std::span<const double> x) {
  const double middle = median(x);
  const double limit =
      middle + std::max(kMads * median_absolute_deviation(x), kLeastExcess * middle);
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] > limit && (i == 0 || x[i - 1] <= limit)) at.push_back(i);
  }
  return at;
}

/// The mean distance of outliers that come regularly from the beginning to the end of the series; 0
/// when they do not.
std::size_t period_of(const std::vector<std::size_t>& at, std::size_t count) {
  if (at.size() < 3) return 0;
  std::size_t least = count;
  std::size_t most = 0;
  for (std::size_t i = 1; i < at.size(); ++i) {
    least = std::min(least, at[i] - at[i - 1]);
    most = std::max(most, at[i] - at[i - 1]);
  }
  const double middle =
      static_cast<double>(at.back() - at.front()) / static_cast<double>(at.size() - 1);
  if (static_cast<double>(most - least) > std::max(1.0, kRegular * middle)) return 0;
  if (at.front() > most || count - 1 - at.back() > most || middle < 2) return 0;
  return static_cast<std::size_t>(std::llround(middle));
}

/// A series from which blocks are drawn, each by the index of its first value.
class Blocks {
 public:
  explicit Blocks(std::span<const double> x) : sums_(x.size() + 1, 0.0) {
    for (std::size_t i = 0; i < x.size(); ++i) sums_[i + 1] = sums_[i] + x[i];
  }
  std::size_t size() const { return sums_.size() - 1; }
  std::size_t starts(std::size_t length) const {
    return size() >= length ? size() - length + 1 : 1;
  }
  double sum(std::size_t start, std::size_t length) const {
    return sums_[std::min(start + length, size())] - sums_[start];
  }

 private:
  std::vector<double> sums_;
};

/// The mean of `count` values in blocks drawn from all of `series`. Draws use modulo, because the
/// distributions of the standard library differ between implementations and a report must not.
double resampled_mean(std::span<const Blocks* const> series, std::size_t length, std::size_t count,
                      std::mt19937_64& random) {
  std::size_t starts = 0;
  for (const Blocks* one : series) starts += one->starts(length);
  double sum = 0;
  for (std::size_t drawn = 0; drawn < count;) {
    std::size_t start = random() % starts;
    const Blocks* from = series.front();
    for (const Blocks* one : series) {
      from = one;
      if (start < one->starts(length)) break;
      start -= one->starts(length);
    }
    const std::size_t part = std::min({length, count - drawn, from->size() - start});
    sum += from->sum(start, part);
    drawn += part;
  }
  return sum / static_cast<double>(count);
}

/// The squared standard error of the logarithm of the series' mean.
double squared_error(std::span<const double> x, const BlockPlan& plan, std::mt19937_64& random,
                     int resamples) {
  const Blocks blocks(x);
  const Blocks* one = &blocks;
  std::vector<double> logs;
  logs.reserve(static_cast<std::size_t>(resamples));
  for (int i = 0; i < resamples; ++i)
    logs.push_back(std::log(resampled_mean({&one, 1}, plan.length, x.size(), random)));
  const double of_blocks = deviation(logs);
  const double count = plan.blocks(x.size());
  // Blocks deviate less from the sample mean than from the true mean.
  double square = of_blocks * of_blocks * count / std::max(count - 1, 0.5);
  if (plan.periodic) {
    // The phase of the period decides whether the series contains one more long value.
    const double mean = mean_of_values(x);
    const double excess = (mean - median(x)) * static_cast<double>(plan.length);
    const double phase = kPhase * excess / static_cast<double>(x.size()) / mean;
    square += phase * phase;
  }
  return square;
}

/// The share of resamples, drawn from both series pooled, whose means differ at least as much as
/// the means of `a` and `b`.
double pooled_p(std::span<const double> a, std::span<const double> b, std::size_t length,
                std::mt19937_64& random, int resamples) {
  const Blocks of_a(a);
  const Blocks of_b(b);
  const std::array<const Blocks*, 2> both = {&of_a, &of_b};
  const double seen = std::fabs(mean_of_values(b) - mean_of_values(a));
  int as_far = 0;
  for (int i = 0; i < resamples; ++i) {
    const double x = resampled_mean(both, length, a.size(), random);
    const double y = resampled_mean(both, length, b.size(), random);
    as_far += std::fabs(y - x) >= seen * (1 - 1e-12);
  }
  return (as_far + 1.0) / (resamples + 1.0);
}

/// The z of a two-sided p in (0, 1], by bisection.
double z_of(double p) {
  double low = 0;
  double high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) > p ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

double BlockPlan::blocks(std::size_t count) const {
  return static_cast<double>(count) / static_cast<double>(length);
}

BlockPlan plan_blocks(std::span<const double> series) {
  BlockPlan plan;
  if (series.size() < 2) return plan;
  plan.length = static_cast<std::size_t>(std::ceil(correlated_length(series)));
  const std::vector<std::size_t> outliers = outliers_of(series);
  plan.outliers = !outliers.empty();
  if (const std::size_t period = period_of(outliers, series.size()); period > 0) {
    plan.periodic = true;
    plan.length = (plan.length + period - 1) / period * period;
  }
  plan.length = std::clamp<std::size_t>(plan.length, 1, series.size() / 2);
  return plan;
}

MeanChange compare_means(std::span<const double> a, std::span<const double> b, std::uint64_t seed,
                         int resamples) {
  MeanChange result;
  result.interval = {-kInfinity, kInfinity};
  result.detectable = kInfinity;
  if (a.empty() || b.empty()) return result;
  const double before = mean_of_values(a);
  const double after = mean_of_values(b);
  if (before <= 0 || after <= 0) return result;
  result.change = after / before - 1;
  if (a.size() < 2 || b.size() < 2) return result;
  std::mt19937_64 random(seed);
  const BlockPlan plan_a = plan_blocks(a);
  const BlockPlan plan_b = plan_blocks(b);
  const double square_a = squared_error(a, plan_a, random, resamples);
  const double square_b = squared_error(b, plan_b, random, resamples);
  double error = std::sqrt(square_a + square_b);
  const double log_change = std::log(after / before);
  // Welch and Satterthwaite, with blocks in place of values.
  const double freedom_a = std::max(kLeastFreedom, plan_a.blocks(a.size()) - 1);
  const double freedom_b = std::max(kLeastFreedom, plan_b.blocks(b.size()) - 1);
  const double squares = square_a * square_a / freedom_a + square_b * square_b / freedom_b;
  const double freedom =
      squares > 0 ? (square_a + square_b) * (square_a + square_b) / squares : kInfinity;
  if (std::fabs(log_change) < kRounding) {
    result.p_value = 1;
  } else if (error <= 0) {
    result.p_value = 0;
  } else {
    result.p_value =
        std::erfc(normal_of_student(std::fabs(log_change) / error, freedom) / std::sqrt(2.0));
  }
  const bool by_chance = (plan_a.outliers && !plan_a.periodic) ||
                         (plan_b.outliers && !plan_b.periodic) ||
                         (!plan_a.periodic && !plan_b.periodic);
  if (by_chance && result.p_value < kSignificance) {
    const double pooled = pooled_p(a, b, std::max(plan_a.length, plan_b.length), random, resamples);
    if (pooled >= kSignificance) {
      result.p_value = pooled;
      const double z = std::max(z_of(pooled), kLeastZ);
      error = std::max(error, std::fabs(log_change) / student_quantile(z, freedom));
    }
  }
  const double half = student_quantile(kZ95, freedom) * error;
  result.interval = {std::expm1(log_change - half), std::expm1(log_change + half)};
  result.detectable =
      std::expm1((student_quantile(kZ95, freedom) + student_quantile(kZ80, freedom)) * error);
  return result;
}

double rank_design_effect(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 2 || b.size() < 2) return 1;
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  std::sort(all.begin(), all.end());
  // The variance of the mean of a block, over that of the mean of equally many independent values.
  auto effect = [&](std::span<const double> x) {
    std::vector<double> ranks;
    for (double value : x) {
      auto [low, high] = std::equal_range(all.begin(), all.end(), value);
      ranks.push_back(static_cast<double>((low - all.begin()) + (high - all.begin())) / 2);
    }
    const double single = deviation(ranks);
    const auto length = static_cast<std::size_t>(std::ceil(correlated_length(ranks)));
    if (single <= 0 || length < 2 || length > x.size() / 2) return 1.0;
    const Blocks blocks(ranks);
    std::vector<double> means;
    for (std::size_t start = 0; start < blocks.starts(length); ++start)
      means.push_back(blocks.sum(start, length) / static_cast<double>(length));
    const double of_block = deviation(means);
    const double count = static_cast<double>(x.size()) / static_cast<double>(length);
    return of_block * of_block * static_cast<double>(length) / (single * single) * count /
           std::max(count - 1, 0.5);
  };
  return std::max(1.0, (effect(a) + effect(b)) / 2);
}

double student_quantile(double z, double freedom) {
  if (!std::isfinite(freedom)) return z;
  const double c = (8 * freedom + 1) / (8 * freedom + 3);
  return std::sqrt(freedom * std::expm1(z * z / (c * c * freedom)));
}

double normal_of_student(double t, double freedom) {
  if (!std::isfinite(freedom)) return t;
  const double c = (8 * freedom + 1) / (8 * freedom + 3);
  return c * std::sqrt(freedom * std::log1p(t * t / freedom));
}

Bounds bootstrap_mean(std::span<const double> values, const BlockPlan& plan) {
  constexpr int kResamples = 1000;
  const std::size_t count = values.size();
  if (count < 2) return {mean(values), mean(values)};
  const std::size_t block = plan.periodic
                                ? std::min(plan.length, count)
                                : static_cast<std::size_t>(std::sqrt(static_cast<double>(count)));
  std::mt19937_64 random(1);
  std::vector<double> means(kResamples);
  for (double& one : means) {
    double sum = 0;
    for (std::size_t drawn = 0; drawn < count;) {
      const std::size_t begin = random() % count;
      for (std::size_t i = 0; i < block && drawn < count; ++i, ++drawn)
        sum += values[(begin + i) % count];
    }
    one = sum / static_cast<double>(count);
  }
  std::sort(means.begin(), means.end());
  return {percentile_sorted(means, 0.025), percentile_sorted(means, 0.975)};
}

}  // namespace headway
