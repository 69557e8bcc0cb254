// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// One component of a JPEG after entropy decoding: blocks of 8 x 8 quantised coefficients in their natural order (not zigzag),
/// [blocks_high][blocks_wide][64]. Its samples are 8·blocks_high rows of 8·blocks_wide bytes, from the same offset; those that
/// lie on the picture are the first ceil(height / rows_per_sample) rows and ceil(width / columns_per_sample) columns.
struct JpegPlane {
  std::int64_t offset = 0;  ///< of its first coefficient among all pictures'; a multiple of 64
  std::int32_t blocks_high = 0;
  std::int32_t blocks_wide = 0;
  std::int32_t rows_per_sample = 1;  ///< of the picture: 1 or 2; 1 for the first plane
  std::int32_t columns_per_sample = 1;
  std::uint16_t steps[64] = {};  ///< of quantisation, in natural order
};

struct JpegPicture {
  std::int32_t height = 0;  ///< in pixels; the planes cover at least these
  std::int32_t width = 0;
  std::int32_t planes = 0;  ///< 1: grey, 3: Y, Cb, Cr
  /// Number of its first block among those of all pictures before it; its blocks are numbered plane by plane.
  std::int64_t first_block = 0;
  std::int64_t to = 0;  ///< of its first value, from DecodeJpegBlocks::to
  JpegPlane plane[3];   ///< one after the other in memory
};

/// The second half of decoding (ISO/IEC 10918-1): coefficients · steps, inverse DCT, chroma at every pixel, RGB; a grey picture has
/// three equal channels. Chroma of fewer samples lies centred between the pixels that share it (ITU-T T.871) and is interpolated
/// linearly: 3/4 of the nearer sample and 1/4 of the farther one along each axis; beyond an edge is the sample at it.
///
/// In integers (kernels/loops/jpeg_arithmetic.h), with the constants, roundings and shortcuts of libjpeg's accurate integer DCT and smooth
/// upsampling: for any picture that an encoder makes, a program gets the bits that libjpeg-turbo's own decoder gives, from every device.
/// Values beyond what 16 bits hold between the steps, which only a damaged file has, are cut off to them.
struct DecodeJpegBlocks {
  std::int64_t images = 0;
  std::int64_t blocks =
      0;  ///< most that a batch may have: what is launched for, and what work_of counts
  const std::int16_t* coefficients = nullptr;
  const JpegPicture* pictures = nullptr;  ///< [images], in the order of first_block
  std::uint8_t* samples = nullptr;        ///< scratch, a byte for every coefficient
  std::uint8_t* to = nullptr;             ///< pictures, each [height][width][3]
};

void run(const DecodeJpegBlocks& op);

/// 16 transforms of 8 values a block, 22 products and 28 sums each, and 64 products by steps (in integers, counted as if they were
/// floats); coefficients in, samples out and in again, pixels out.
constexpr Work work_of(const DecodeJpegBlocks& op) {
  return {864 * op.blocks, (128 + 64 + 64 + 128) * op.blocks};
}

}  // namespace headway::kernels
