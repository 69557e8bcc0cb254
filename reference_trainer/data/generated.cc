// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reference_trainer/data/images.h"
#include "reference_trainer/data/random.h"

namespace headway::trainer {
namespace {

constexpr int kSide = 28;
constexpr int kClasses = 10;

/// Whether class `shape` covers the point (x, y), relative to the middle, in units of the shape's
/// radius.
bool covers(int shape, double x, double y) {
  const double radius = std::hypot(x, y);
  const bool inside = std::max(std::abs(x), std::abs(y)) < 1;
  switch (shape) {
    case 0:
      return radius < 1;  // disc
    case 1:
      return radius < 1 && radius > 0.6;  // ring
    case 2:
      return inside && std::abs(y) < 0.3;  // horizontal bar
    case 3:
      return inside && std::abs(x) < 0.3;  // vertical bar
    case 4:
      return inside && std::min(std::abs(x), std::abs(y)) < 0.25;  // upright cross
    case 5:
      return inside && std::abs(std::abs(x) - std::abs(y)) < 0.3;  // diagonal cross
    case 6:
      return inside && std::max(std::abs(x), std::abs(y)) > 0.65;  // frame
    case 7:
      return inside && y > 2 * std::abs(x) - 1;  // triangle
    case 8:
      return inside && std::fmod(y + 1, 0.8) < 0.4;  // stripes
    default:
      return inside && (std::fmod(x + 1, 1) < 0.5) == (std::fmod(y + 1, 1) < 0.5);
  }
}

ImageSet generate(std::uint64_t seed, std::uint64_t part, std::int64_t count) {
  ImageSet set;
  set.name = fmt::format("generated-{}-{}", seed, part);
  set.description = fmt::format("generated shapes (seed {})", seed);
  set.height = kSide;
  set.width = kSide;
  set.classes = kClasses;
  set.pixels.resize(static_cast<std::size_t>(count) * kSide * kSide);
  set.labels.resize(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    Random random(seed, part, static_cast<std::uint64_t>(i));
    const int shape = static_cast<int>(random.below(kClasses));
    set.labels[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(shape);
    const double radius = 5 + 6 * random.uniform();
    const double middle_x = kSide / 2.0 + 6 * (random.uniform() - 0.5);
    const double middle_y = kSide / 2.0 + 6 * (random.uniform() - 0.5);
    const double brightness = 120 + 110 * random.uniform();
    std::uint8_t* pixels = set.pixels.data() + i * kSide * kSide;
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        const bool lit = covers(shape, (x - middle_x) / radius, (y - middle_y) / radius);
        const double value = (lit ? brightness : 25) + 20 * random.normal();
        pixels[y * kSide + x] = static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0));
      }
    }
  }
  return set;
}

}  // namespace

TrainAndTest generate_images(std::uint64_t seed, std::int64_t train_count,
                             std::int64_t test_count) {
  return {generate(seed, 0, train_count), generate(seed, 1, test_count)};
}

}  // namespace headway::trainer
