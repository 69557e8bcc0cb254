// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/work.h"

namespace headway::kernels {

/// How the colours of one picture change; 1 leaves them as they are.
struct ColourChange {
  float brightness = 1;
  float contrast = 1;    ///< about the picture's mean luma
  float saturation = 1;  ///< about each pixel's luma
};

/// Converts pixels to the values that a network is trained on. With m = brightness · (the mean luma
/// of the image): x = m + contrast · (pixel · brightness - m). With g = luma(x): x = g + saturation
/// · (x - g), clamped to 0..255; then (x / 255 - mean) / deviation per channel. Luma is 0.299 r +
/// 0.587 g + 0.114 b (added from left to right). The mean luma is the sum of 299 r + 587 g + 114 b
/// over the pixels, divided by 1000 times their number; the sum is an integer, and so the same on
/// every device. All in FP32, each operation rounded.
struct ColourPictures {
  std::int64_t images = 0;
  int height = 0;
  int width = 0;
  std::array<float, 3> mean{};            ///< per channel, in 0..1
  std::array<float, 3> deviation{};       ///< likewise
  const std::uint8_t* from = nullptr;     ///< [images][height][width][3]
  const ColourChange* changes = nullptr;  ///< [images]; null: none
  float* to = nullptr;                    ///< [images][height][width][3]
};

/// The first half, for one picture: [pixels][3] to values in 0..255, which may be fractional.
void change_colours(const ColourChange& change, std::span<const std::uint8_t> rgb,
                    std::span<float> to);
/// The second half, in place, for any number of pixels.
void normalise_colours(const std::array<float, 3>& mean, const std::array<float, 3>& deviation,
                       std::span<float> rgb);
/// Both halves, for all pictures.
void run(const ColourPictures& op);

/// The pixels are read twice where their mean luma is needed.
constexpr Work work_of(const ColourPictures& op) {
  const std::int64_t values = 3 * op.images * op.height * op.width;
  return {(op.changes ? 12 : 3) * values, (op.changes ? 6 : 5) * values};
}

}  // namespace headway::kernels
