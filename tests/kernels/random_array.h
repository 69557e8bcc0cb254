// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace headway::test {

/// `count` normal floats about `mean`; the same for the same seed.
inline std::vector<float> random_floats(std::int64_t count, std::uint32_t seed, float mean = 0,
                                        float deviation = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(mean, deviation);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = normal(engine);
  return values;
}

/// `count` bytes, all values equally likely.
inline std::vector<std::uint8_t> random_bytes(std::int64_t count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<std::uint8_t> values(static_cast<std::size_t>(count));
  for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(engine() >> 24);
  return values;
}

/// Largest |a - b| / (1 + |b|).
inline double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = a.size() == b.size() ? 0 : 1e30;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const double expected = b[i];
    const double difference = std::abs(a[i] - expected) / (1 + std::abs(expected));
    if (std::isnan(difference)) return 1e30;
    largest = std::max(largest, difference);
  }
  return largest;
}

}  // namespace headway::test
