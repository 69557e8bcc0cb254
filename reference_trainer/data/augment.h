// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "kernels/image_shift/op.h"
#include "reference_trainer/data/random.h"

namespace headway::trainer {

/// Mean and standard deviation of the pixels of an image set, in 0..1.
struct PixelStatistics {
  float mean = 0;
  float deviation = 1;
};
PixelStatistics pixel_statistics(std::span<const std::uint8_t> pixels);

struct Augmentation {
  bool random = true;  ///< false: normalise only
  int shift = 2;       ///< largest shift of the crop in pixels; the border is filled with 0
  PixelStatistics statistics;
};

/// First half: chooses a shift, and a mirror image with even chance; neither where `how` has no
/// random changes.
kernels::ImageShift choose_shift(const Augmentation& how, Random& random);
/// Second half: normalises by (pixel/255 - mean) / deviation. Fills in all fields but `images` and
/// the arrays, for any number of images.
kernels::ShiftImages shift_images(const Augmentation& how, int height, int width);
/// Both halves, for one image: random crop (a shift), random horizontal flip, normalisation.
/// `random` decides all choices; `out` has height·width floats.
void augment(const Augmentation& how, Random& random, std::span<const std::uint8_t> pixels,
             int height, int width, std::span<float> out);

}  // namespace headway::trainer
