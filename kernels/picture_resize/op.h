// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "kernels/work.h"

namespace headway::kernels {

/// The part of a picture that becomes an image. Pictures are [height][width][3], 8 bits per value.
struct PicturePart {
  std::int64_t offset = 0;  ///< of the picture's first value, counted from the first picture
  std::int32_t height = 0;  ///< of the picture, in pixels
  std::int32_t width = 0;
  float top = 0;  ///< of the part, in pixels, like its extents; within the picture
  float left = 0;
  float rows = 0;  ///< at least 1
  float columns = 0;
  std::int32_t mirrored = 0;  ///< 0 or 1: left and right are exchanged
};

/// The source pixels of one pixel of the result, along one axis: those closer to `centre` than
/// `reach`, from floor(centre - reach) + 1 to ceil(centre + reach) - 1, limited to the picture and
/// at least one, with weight max(1e-6, 1 - |at - centre| / reach). All in FP32, each operation
/// rounded, so that every device finds the same ones: scale = extent / count,
/// centre = begin + (i + 0.5) · scale - 0.5, reach = max(1, scale).
///
/// Resizes parts of pictures to images of one size with that filter, which is as wide as the pixels
/// of the result, so that no source pixel is skipped when the picture shrinks. A value is the sum
/// over rows of (row's weight · the sum over columns of column's weight · source), in that order,
/// divided by (the sum of the rows' weights · that of the columns'), plus 0.5, clamped to 0..255.
/// The bits do not depend on the device.
struct ResizePictures {
  std::int64_t images = 0;
  int height = 0;  ///< of the images
  int width = 0;
  std::int64_t source_bytes = 0;  ///< of all pictures, approximately; used by work_of
  const std::uint8_t* from = nullptr;
  const PicturePart* parts = nullptr;  ///< [images]
  std::uint8_t* to = nullptr;          ///< [images][height][width][3]
};

/// Resizes one part to an image [height][width][3]. The part's offset counts from `from`.
void resize_part(const std::uint8_t* from, const PicturePart& part, int height, int width,
                 std::uint8_t* to);
/// Exchanges left and right of one picture [height][width][3].
void mirror_picture(std::span<std::uint8_t> rgb, int width);
/// Resizes all parts, each by resize_part.
void run(const ResizePictures& op);

/// Each value of a picture contributes to two columns of the result, and the narrowed row to two
/// rows: about twice as many rows as the result has.
constexpr Work work_of(const ResizePictures& op) {
  const std::int64_t values = 3 * op.images * op.height * op.width;
  return {4 * op.source_bytes + 8 * values, op.source_bytes + values};
}

}  // namespace headway::kernels
