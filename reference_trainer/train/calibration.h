// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference_trainer/switches/settings.h"

namespace headway::trainer {

/// Histogram of the magnitudes of an activation's values over the calibration set, in equal bins
/// from 0 to the largest.
class SizeHistogram {
 public:
  static constexpr std::size_t kBins = 2048;  // as TensorRT's

  /// `largest`: the largest magnitude that will be added.
  explicit SizeHistogram(float largest) : largest_(largest), counts_(kBins) {}
  void add(std::span<const float> values);

  /// The largest magnitude that INT8 has to represent without clipping; 0 where all values are
  /// zero.
  float range(Calibration method, double percentile) const;

 private:
  float entropy_range() const;
  float percentile_range(double percentile) const;
  float end_of(std::size_t bin) const {
    return largest_ * static_cast<float>(bin + 1) / static_cast<float>(kBins);
  }

  float largest_;
  std::vector<double> counts_;
};

/// The largest magnitude among the finite values; a network with other values cannot be quantised.
float largest_size(std::span<const float> values);

}  // namespace headway::trainer
