// SPDX-License-Identifier: MIT
#include "kernels/picture_colours/op.h"

#include <algorithm>

#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

float mean_luma(std::span<const std::uint8_t> rgb) {
  std::int64_t red = 0, green = 0, blue = 0;
  for (std::size_t i = 0; i < rgb.size(); i += 3) {
    red += rgb[i];
    green += rgb[i + 1];
    blue += rgb[i + 2];
  }
  const std::int64_t thousandths = 299 * red + 587 * green + 114 * blue;
  const auto pixels = static_cast<std::int64_t>(rgb.size() / 3);
  return static_cast<float>(thousandths) / static_cast<float>(1000 * pixels);
}

/// Calls body(from, to) for sixteen pixels at a time, which fill vectors, unlike the three values
/// of one pixel. For 224 x 224, normalising takes 0.10 instead of 0.27 ms, and changing colours
/// 0.12 instead of 0.39 ms (22 November 2026).
constexpr std::size_t kValues = 48;
template <class From, class Body>
void by_sixteen_pixels(std::span<const From> from, std::span<float> to, const Body& body) {
  std::size_t i = 0;
  for (; i + kValues <= from.size(); i += kValues) body(from.data() + i, to.data() + i);
  From last[kValues] = {};
  float made[kValues];
  std::ranges::copy(from.subspan(i), last);
  body(last, made);
  std::copy_n(made, from.size() - i, to.data() + i);
}

}  // namespace

void change_colours(const ColourChange& change, std::span<const std::uint8_t> rgb,
                    std::span<float> to) {
  const float mean = change.brightness * mean_luma(rgb);
  by_sixteen_pixels(rgb, to, [=](const std::uint8_t* from, float* result) {
    float x[kValues], grey[kValues];
    for (std::size_t k = 0; k < kValues; ++k)
      x[k] = mean + change.contrast * (static_cast<float>(from[k]) * change.brightness - mean);
    for (std::size_t k = 0; k < kValues; k += 3)
      grey[k] = grey[k + 1] = grey[k + 2] = 0.299F * x[k] + 0.587F * x[k + 1] + 0.114F * x[k + 2];
    for (std::size_t k = 0; k < kValues; ++k) {
      const float value = grey[k] + change.saturation * (x[k] - grey[k]);
      result[k] = std::min(std::max(value, 0.0F), 255.0F);
    }
  });
}

void normalise_colours(const std::array<float, 3>& mean, const std::array<float, 3>& deviation,
                       std::span<float> rgb) {
  float means[kValues], deviations[kValues];
  for (std::size_t k = 0; k < kValues; ++k) {
    means[k] = mean[k % 3];
    deviations[k] = deviation[k % 3];
  }
  by_sixteen_pixels<float>(rgb, rgb, [&](const float* from, float* to) {
    for (std::size_t k = 0; k < kValues; ++k) to[k] = (from[k] / 255 - means[k]) / deviations[k];
  });
}

void run(const ColourPictures& op) {
  const auto values = static_cast<std::size_t>(3) * static_cast<std::size_t>(op.height) *
                      static_cast<std::size_t>(op.width);
  parallel_for(op.images, 1, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const std::span from(op.from + i * values, values);
      const std::span to(op.to + i * values, values);
      if (op.changes) {
        change_colours(op.changes[i], from, to);
      } else {
        std::ranges::copy(from, to.begin());
      }
      normalise_colours(op.mean, op.deviation, to);
    }
  });
}

}  // namespace headway::kernels
