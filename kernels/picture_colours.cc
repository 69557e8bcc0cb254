// SPDX-License-Identifier: MIT
#include "kernels/picture_colours.h"

#include <algorithm>

#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

float mean_luma(std::span<const std::uint8_t> rgb) {
  std::int64_t sums[3] = {};
  for (std::size_t i = 0; i < rgb.size(); i += 3)
    for (std::size_t c = 0; c < 3; ++c) sums[c] += rgb[i + c];
  const std::int64_t thousandths = 299 * sums[0] + 587 * sums[1] + 114 * sums[2];
  const auto pixels = static_cast<std::int64_t>(rgb.size() / 3);
  return static_cast<float>(thousandths) / static_cast<float>(1000 * pixels);
}

}  // namespace

void change_colours(const ColourChange& change, std::span<const std::uint8_t> rgb,
                    std::span<float> to) {
  const float mean = change.brightness * mean_luma(rgb);
  for (std::size_t i = 0; i < rgb.size(); i += 3) {
    float x[3];
    for (std::size_t c = 0; c < 3; ++c)
      x[c] = mean + change.contrast * (static_cast<float>(rgb[i + c]) * change.brightness - mean);
    const float grey = 0.299F * x[0] + 0.587F * x[1] + 0.114F * x[2];
    for (std::size_t c = 0; c < 3; ++c)
      to[i + c] = std::clamp(grey + change.saturation * (x[c] - grey), 0.0F, 255.0F);
  }
}

void normalise_colours(const std::array<float, 3>& mean, const std::array<float, 3>& deviation,
                       std::span<float> rgb) {
  for (std::size_t i = 0; i < rgb.size(); i += 3)
    for (std::size_t c = 0; c < 3; ++c) rgb[i + c] = (rgb[i + c] / 255 - mean[c]) / deviation[c];
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
