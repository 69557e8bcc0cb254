// SPDX-License-Identifier: MIT
// TensorRT's calibration by entropy: Migacz, "8-bit inference with TensorRT", GTC 2017.
#include "reference_trainer/train/calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace headway::trainer {
namespace {

constexpr std::size_t kLevels = 128;  // magnitudes of a signed 8-bit integer

/// Information that the first `bins` bins lose when all larger values count as the largest and the
/// bins share kLevels levels, as the Kullback-Leibler divergence of the two distributions.
double information_lost(const std::vector<double>& counts, std::size_t bins) {
  std::vector<double> kept(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(bins));
  const std::vector<double> inside = kept;
  kept.back() +=
      std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(bins), counts.end(), 0.0);
  const double all = std::accumulate(kept.begin(), kept.end(), 0.0);
  const double all_inside = std::accumulate(inside.begin(), inside.end(), 0.0);
  if (all_inside <= 0) return std::numeric_limits<double>::infinity();
  double lost = 0;
  for (std::size_t level = 0; level < kLevels; ++level) {
    const std::size_t begin = level * bins / kLevels;
    const std::size_t end = (level + 1) * bins / kLevels;
    double sum = 0;
    double used = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sum += inside[i];
      used += inside[i] > 0;
    }
    for (std::size_t i = begin; i < end; ++i) {
      if (kept[i] <= 0) continue;
      // A level spreads evenly over its bins that had values. A bin that has only clipped values
      // gets almost nothing.
      const double told = inside[i] > 0 ? sum / used / all_inside : 1e-9;
      lost += kept[i] / all * std::log(kept[i] / all / told);
    }
  }
  return lost;
}

}  // namespace

float largest_size(std::span<const float> values) {
  float largest = 0;
  for (float value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return largest;
}

void SizeHistogram::add(std::span<const float> values) {
  if (largest_ <= 0) return;
  const float bins_per_unit = static_cast<float>(kBins) / largest_;
  for (float value : values) {
    // ReLU makes many zeros, which are exact in every scale.
    if (value == 0 || !std::isfinite(value)) continue;
    const auto bin = static_cast<std::size_t>(std::abs(value) * bins_per_unit);
    counts_[std::min(bin, kBins - 1)] += 1;
  }
}

float SizeHistogram::entropy_range() const {
  float best = largest_;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t bins = kLevels; bins <= kBins; bins += 4) {
    const double lost = information_lost(counts_, bins);
    if (lost > least) continue;
    least = lost;
    best = end_of(bins - 1);
  }
  return best;
}

float SizeHistogram::percentile_range(double percentile) const {
  const double all = std::accumulate(counts_.begin(), counts_.end(), 0.0);
  double below = 0;
  for (std::size_t i = 0; i < kBins; ++i) {
    below += counts_[i];
    if (below >= percentile / 100 * all) return end_of(i);
  }
  return largest_;
}

float SizeHistogram::range(Calibration method, double percentile) const {
  if (largest_ <= 0) return 0;
  switch (method) {
    case Calibration::kMax:
      return largest_;
    case Calibration::kEntropy:
      return entropy_range();
    case Calibration::kPercentile:
      return percentile_range(percentile);
  }
  return largest_;
}

}  // namespace headway::trainer
