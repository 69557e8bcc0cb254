// SPDX-License-Identifier: MIT
#include "reference_trainer/data/augment.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headway::trainer {

PixelStatistics pixel_statistics(std::span<const std::uint8_t> pixels) {
  std::array<std::int64_t, 256> histogram{};
  for (std::uint8_t pixel : pixels) ++histogram[pixel];
  double sum = 0;
  double squares = 0;
  for (std::size_t value = 0; value < 256; ++value) {
    const double scaled = static_cast<double>(value) / 255;
    sum += scaled * static_cast<double>(histogram[value]);
    squares += scaled * scaled * static_cast<double>(histogram[value]);
  }
  const double count = std::max<double>(1, static_cast<double>(pixels.size()));
  const double mean = sum / count;
  const double variance = std::max(1e-6, squares / count - mean * mean);
  return {static_cast<float>(mean), static_cast<float>(std::sqrt(variance))};
}

void augment(const Augmentation& how, Random& random, std::span<const std::uint8_t> pixels,
             int height, int width, std::span<float> out) {
  int shift_y = 0;
  int shift_x = 0;
  bool flip = false;
  if (how.random) {
    const auto choices = static_cast<std::uint64_t>(2 * how.shift + 1);
    shift_y = static_cast<int>(random.below(choices)) - how.shift;
    shift_x = static_cast<int>(random.below(choices)) - how.shift;
    flip = random.below(2) == 1;
  }
  const float scale = 1 / (255 * how.statistics.deviation);
  const float offset = -how.statistics.mean / how.statistics.deviation;
  for (int y = 0; y < height; ++y) {
    const int from_y = y + shift_y;
    for (int x = 0; x < width; ++x) {
      const int from_x = (flip ? width - 1 - x : x) + shift_x;
      const bool inside = from_y >= 0 && from_y < height && from_x >= 0 && from_x < width;
      const float value =
          inside ? static_cast<float>(pixels[static_cast<std::size_t>(from_y * width + from_x)])
                 : 0.0F;
      out[static_cast<std::size_t>(y * width + x)] = value * scale + offset;
    }
  }
}

}  // namespace headway::trainer
