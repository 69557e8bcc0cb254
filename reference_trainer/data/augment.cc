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

kernels::ImageShift choose_shift(const Augmentation& how, Random& random) {
  kernels::ImageShift shift;
  if (!how.random) return shift;
  const auto choices = 2 * static_cast<std::uint64_t>(how.shift) + 1;
  shift.down = static_cast<std::int32_t>(random.below(choices)) - how.shift;
  shift.right = static_cast<std::int32_t>(random.below(choices)) - how.shift;
  shift.mirrored = random.below(2) == 1;
  return shift;
}

kernels::ShiftImages shift_images(const Augmentation& how, int height, int width) {
  kernels::ShiftImages op;
  op.height = height;
  op.width = width;
  op.scale = 1 / (255 * how.statistics.deviation);
  op.offset = -how.statistics.mean / how.statistics.deviation;
  return op;
}

void augment(const Augmentation& how, Random& random, std::span<const std::uint8_t> pixels,
             int height, int width, std::span<float> out) {
  const kernels::ImageShift shift = choose_shift(how, random);
  kernels::ShiftImages op = shift_images(how, height, width);
  op.images = 1;
  op.from = pixels.data();
  op.shifts = &shift;
  op.to = out.data();
  run(op);
}

}  // namespace headway::trainer
