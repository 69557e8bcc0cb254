// SPDX-License-Identifier: MIT
#include "cli/tune/gain.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "analyzer/diff/comparison.h"

namespace headway::tune {
namespace {

constexpr int kResamples = 2000;
constexpr double kTail = 0.025;

double step_of(const std::vector<Block>& blocks, Typical how) {
  std::vector<double> all;
  for (const Block& block : blocks) all.insert(all.end(), block.begin(), block.end());
  return typical(all, how);
}

/// A random index below `count`; the same on every platform, unlike the distributions of <random>.
std::size_t below(std::mt19937_64& random, std::size_t count) {
  return static_cast<std::size_t>(random() % count);
}

double step_of_resample(const std::vector<Block>& blocks, Typical how, std::mt19937_64& random,
                        std::vector<double>& scratch) {
  scratch.clear();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Block& block = blocks[below(random, blocks.size())];
    for (std::size_t j = 0; j < block.size(); ++j)
      scratch.push_back(block[below(random, block.size())]);
  }
  if (how != Typical::kMedian) return typical(scratch, how);
  const auto middle = scratch.begin() + static_cast<std::ptrdiff_t>(scratch.size() / 2);
  std::nth_element(scratch.begin(), middle, scratch.end());
  return *middle;
}

Bounds interval_of(std::vector<double> ratios) {
  std::sort(ratios.begin(), ratios.end());
  return {1 - percentile_sorted(ratios, 1 - kTail), 1 - percentile_sorted(ratios, kTail)};
}

/// Converts seconds to nanoseconds for the comparison.
std::vector<Block> in_ns(std::vector<Block> blocks) {
  for (Block& block : blocks)
    for (double& step : block) step *= 1e9;
  return blocks;
}

Gain gain_of_cost(const std::vector<Block>& before, const std::vector<Block>& after) {
  const analyzer::Comparison found = analyzer::compare_cost(in_ns(before), in_ns(after));
  return {-found.change, {-found.interval.high, -found.interval.low}, {}};
}

}  // namespace

double typical(const std::vector<double>& values, Typical how) {
  if (how == Typical::kMedian) return median(values);
  return values.empty() ? 0
                        : std::accumulate(values.begin(), values.end(), 0.0) /
                              static_cast<double>(values.size());
}

Gain measured_gain(const std::vector<Block>& before, const std::vector<Block>& after, Typical how,
                   bool exact, std::uint64_t seed) {
  if (how == Typical::kStepCost) return gain_of_cost(before, after);
  Gain gain;
  const double ratio = step_of(after, how) / step_of(before, how);
  gain.share = 1 - ratio;
  if (exact) {
    gain.ratios.assign(kResamples, ratio);
  } else {
    std::mt19937_64 random(seed);
    std::vector<double> scratch;
    for (int i = 0; i < kResamples; ++i) {
      const double a = step_of_resample(before, how, random, scratch);
      gain.ratios.push_back(step_of_resample(after, how, random, scratch) / a);
    }
  }
  gain.interval = interval_of(gain.ratios);
  return gain;
}

double half_width_of_cost(const std::vector<Block>& runs) {
  // Compares the runs with themselves: both sides contribute the same error, hence the √2.
  const Bounds both = gain_of_cost(runs, runs).interval;
  return (both.high - both.low) / 2 / std::sqrt(2.0);
}

Gain chained(const Gain& first, const Gain& second) {
  Gain gain;
  gain.share = 1 - (1 - first.share) * (1 - second.share);
  const std::size_t count = std::min(first.ratios.size(), second.ratios.size());
  for (std::size_t i = 0; i < count; ++i) gain.ratios.push_back(first.ratios[i] * second.ratios[i]);
  gain.interval = interval_of(gain.ratios);
  return gain;
}

Gain no_gain() {
  Gain gain;
  gain.ratios.assign(kResamples, 1.0);
  return gain;
}

void Noise::add(const std::vector<double>& steps) {
  if (steps.size() < 2) return;
  const double middle = median(steps);
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      differences_.push_back(std::fabs(steps[i] - steps[j]) / middle);
}

double Noise::share(int pairs) const {
  constexpr double kTwoSided95 = 1.96;
  // The median of |x - y| for two normal values, in units of their standard deviation.
  constexpr double kMedianDifference = 0.6745 * 1.41421;
  const double deviation = median(differences_) / kMedianDifference;
  return std::max(floor_, kTwoSided95 * deviation * std::sqrt(2.0 / std::max(1, pairs)));
}

}  // namespace headway::tune
