// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/picture_colours/op.h"
#include "kernels/picture_resize/op.h"
#include "reference_trainer/data/boxes.h"
#include "reference_trainer/data/picture.h"
#include "reference_trainer/data/random.h"

namespace headway::trainer {

/// A part of a picture of this size, in its pixels: at least one each way, none beyond it.
kernels::PicturePart part_of(const Box& part, int height, int width);
/// Resamples `part` of a colour image to height x width (kernels/picture_resize/op.h). `from`: [from_height][from_width][3].
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

// What becomes of a picture is chosen first, in the order of these functions, and then done by kernels/: by the loader, or by
// a device.

/// A random crop, mirrored by chance; without chance the middle 7/8 of each side, which is what a random crop shows on average.
kernels::PicturePart choose_part(const PictureAugmentation& how, Random& random, int height,
                                 int width);
/// With even chance; for pictures whose part is chosen by other rules (random_iou_crop).
bool choose_mirror(Random& random);
/// Brightness, contrast and saturation by the share `most` at most.
kernels::ColourChange choose_colours(float most, Random& random);
/// Doing it with colours, for any number of images: all but `images` and the arrays.
kernels::ColourPictures colour_pictures(const PictureAugmentation& how, int height, int width);

/// All of it, of one image: random crop of a canvas, resized to height x width, flip, colour jitter, then (value/255 - mean) /
/// deviation per channel. `random` decides all choices; out is [height][width][3].
void augment_picture(const PictureAugmentation& how, Random& random,
                     std::span<const std::uint8_t> canvas, int canvas_height, int canvas_width,
                     int height, int width, std::span<float> out);

}  // namespace headway::trainer
