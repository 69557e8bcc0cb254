// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>

namespace headway::trainer {

/// SplitMix64 (Steele et al., 2014): a small generator whose streams are cheap to start, so that
/// every sample can have its own stream, whichever worker handles it.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  /// A separate stream for each combination.
  Random(std::uint64_t seed, std::uint64_t a, std::uint64_t b)
      : state_(mix(mix(seed + kStep * a) + kStep * b)) {}

  std::uint64_t next() { return mix(state_ += kStep); }
  __extension__ using Wide = unsigned __int128;
  /// Uniform in [0, bound); bound > 0. The bias is below 2^-32 for the bounds used here.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }
  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// Standard normal (Box-Muller, one of the pair).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }

 private:
  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15;
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

}  // namespace headway::trainer
