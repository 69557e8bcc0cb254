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

/// A part of a picture of this size, in its pixels: at least one pixel in each direction, none
/// outside the picture.
kernels::PicturePart part_of(const Box& part, int height, int width);
/// Resamples `part` of a colour image to height x width (kernels/picture_resize/op.h). `from`: [from_height][from_width][3].
void resize(std::span<const std::uint8_t> from, int from_height, int from_width, const Box& part,
            int height, int width, std::span<std::uint8_t> to);

/// The largest centred part of an image of this size that has the aspect height : width.
Box centred_part(int from_height, int from_width, int height, int width);

struct PictureAugmentation {
  bool random = true;        ///< false: the centre, normalised only
  float least_area = 0.35F;  ///< of a random crop, as a share of the canvas
  float jitter = 0.3F;       ///< brightness, contrast and saturation change by this share at most
  std::array<float, 3> mean = {0.485F, 0.456F, 0.406F};  ///< of photographs, in 0..1
  std::array<float, 3> deviation = {0.229F, 0.224F, 0.225F};
};

// These functions first choose the changes to a picture, in the order in which they are declared.
// The loader or a device then makes the changes with kernels/.

/// A random crop with a random mirror image. Not random: the middle 7/8 of each side, which is what
/// a random crop shows on average.
kernels::PicturePart choose_part(const PictureAugmentation& how, Random& random, int height,
                                 int width);
/// True with even chance; for pictures whose part other rules choose (random_iou_crop).
bool choose_mirror(Random& random);
/// Changes brightness, contrast and saturation by at most the share `most`.
kernels::ColourChange choose_colours(float most, Random& random);
/// The parameters that change the colours of any number of images: fills in all fields but `images`
/// and the arrays.
kernels::ColourPictures colour_pictures(const PictureAugmentation& how, int height, int width);

/// All changes to one image: random crop of a canvas, resize to height x width, flip, colour
/// jitter, then (value/255 - mean) / deviation per channel. `random` decides all choices; `out` is
/// [height][width][3].
void augment_picture(const PictureAugmentation& how, Random& random,
                     std::span<const std::uint8_t> canvas, int canvas_height, int canvas_width,
                     int height, int width, std::span<float> out);

}  // namespace headway::trainer
