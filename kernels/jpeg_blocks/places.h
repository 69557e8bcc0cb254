// SPDX-License-Identifier: MIT
// Positions of the samples and blocks of decoded JPEGs, for every device.
#pragma once

#include <cstdint>

#include "kernels/jpeg_blocks/op.h"
#include "kernels/loops/jpeg_arithmetic.h"

namespace headway::kernels::jpeg {

/// The number of samples of a plane along one axis of the picture.
HEADWAY_JPEG int samples_along(int pixels, int per_sample) {
  return (pixels + per_sample - 1) / per_sample;
}
/// Planes with one or two columns that each cover two pixels are not interpolated, along either
/// axis.
HEADWAY_JPEG bool repeats(const JpegPicture& picture, const JpegPlane& plane) {
  return plane.columns_per_sample == 2 && samples_along(picture.width, 2) <= 2;
}
HEADWAY_JPEG int blocks_of(const JpegPlane& plane) {
  return plane.blocks_high * plane.blocks_wide;
}
/// The number of blocks of all pictures.
HEADWAY_JPEG std::int64_t blocks_of(const JpegPicture* pictures, std::int64_t images) {
  const JpegPicture& last = pictures[images - 1];
  std::int64_t blocks = last.first_block;
  for (int p = 0; p < last.planes; ++p) blocks += blocks_of(last.plane[p]);
  return blocks;
}

/// The position of block `number` of all pictures.
struct Place {
  std::int64_t image;
  int plane;
  int block;  ///< of its plane
};
HEADWAY_JPEG Place place_of(const JpegPicture* pictures, std::int64_t images, std::int64_t number) {
  std::int64_t image = 0;
  for (std::int64_t end = images; end - image > 1;) {
    const std::int64_t middle = image + (end - image) / 2;
    if (pictures[middle].first_block <= number)
      image = middle;
    else
      end = middle;
  }
  Place place{image, 0, static_cast<int>(number - pictures[image].first_block)};
  for (; place.plane < pictures[image].planes - 1; ++place.plane) {
    const int blocks = blocks_of(pictures[image].plane[place.plane]);
    if (place.block < blocks) break;
    place.block -= blocks;
  }
  return place;
}

}  // namespace headway::kernels::jpeg
