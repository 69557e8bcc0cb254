// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "reference_trainer/data/boxes.h"
#include "reference_trainer/data/picture.h"
#include "reference_trainer/data/random.h"

namespace headway::trainer {

/// Resamples `part` of a colour image to height x width with a triangle filter as wide as the pixels
/// of the result, so that nothing is skipped when it shrinks. `from`: [from_height][from_width][3].
void resize(std::span<const std::uint8_t> from, int from_height, int from_width, const Box& part,
            int height, int width, std::span<std::uint8_t> to);

/// The largest centred part of an image of this size that has the aspect height : width.
Box centred_part(int from_height, int from_width, int height, int width);

struct PictureAugmentation {
  bool random = true;        ///< false: the centre, normalised only
  float least_area = 0.35F;  ///< of a random crop, in parts of the canvas
  float jitter = 0.3F;       ///< brightness, contrast and saturation change by this share at most
  std::array<float, 3> mean = {0.485F, 0.456F, 0.406F};  ///< of photographs, in 0..1
  std::array<float, 3> deviation = {0.229F, 0.224F, 0.225F};
};

/// Mirrors left and right, in place; [height][width][3].
void mirror(std::span<std::uint8_t> rgb, int width);
/// Brightness, contrast about the mean, and saturation about each pixel's grey change by the share `most` at
/// most; values of 0..255.
void jitter_colours(std::span<float> rgb, float most, Random& random);
/// (value/255 - mean) / deviation per channel.
void normalise(const PictureAugmentation& how, std::span<float> rgb);

/// One image: random crop of a canvas, resized to height x width, flip, colour jitter, then (value/255
/// - mean) / deviation per channel. `random` decides all choices; out is [height][width][3].
void augment_picture(const PictureAugmentation& how, Random& random,
                     std::span<const std::uint8_t> canvas, int canvas_height, int canvas_width,
                     int height, int width, std::span<float> out);

}  // namespace headway::trainer
