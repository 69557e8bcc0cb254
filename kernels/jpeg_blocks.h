// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// One component of a JPEG after entropy decoding: blocks of 8 x 8 quantised coefficients in their natural order (not zigzag),
/// [blocks_high][blocks_wide][64].
struct JpegPlane {
  std::int64_t offset = 0;  ///< of its first coefficient, from the first of all pictures
  std::int32_t blocks_high = 0;
  std::int32_t blocks_wide = 0;
  std::int32_t rows_per_sample = 1;  ///< of the picture: 1 or 2
  std::int32_t columns_per_sample = 1;
  std::uint16_t steps[64] = {};  ///< of quantisation, in natural order
};

struct JpegPicture {
  std::int32_t height = 0;  ///< in pixels; the planes cover at least these
  std::int32_t width = 0;
  std::int32_t planes = 0;  ///< 1: grey, 3: Y, Cb, Cr
  std::int64_t first_block =
      0;                ///< number of its first block among those of all pictures before it
  std::int64_t to = 0;  ///< of its first value, from DecodeJpegBlocks::to
  JpegPlane plane[3];   ///< one after the other in memory
};

/// The second half of decoding (ISO/IEC 10918-1): coefficients · steps, inverse DCT, chroma at every pixel, RGB; a grey picture has
/// three equal channels. Chroma of fewer samples lies centred between the pixels that share it (ITU-T T.871) and is interpolated
/// linearly: 3/4 of the nearer sample and 1/4 of the farther one along each axis. In FP32; values are rounded to 8 bits after the
/// DCT and after conversion. Differs from libjpeg's integer arithmetic by a step or two.
struct DecodeJpegBlocks {
  std::int64_t images = 0;
  std::int64_t blocks =
      0;  ///< most that a batch may have: what is launched for, and what work_of counts
  std::int64_t pixels = 0;  ///< likewise, of the largest picture
  const std::int16_t* coefficients = nullptr;
  const JpegPicture* pictures = nullptr;  ///< [images]
  std::uint8_t* samples = nullptr;        ///< scratch, a byte for every coefficient
  std::uint8_t* to = nullptr;             ///< pictures, each [height][width][3]
};

void run(const DecodeJpegBlocks& op);

/// Two passes of 8 x 8 products a block (1024 products and sums); coefficients in, samples out and in again, pixels out.
constexpr Work work_of(const DecodeJpegBlocks& op) {
  return {2048 * op.blocks, (128 + 64 + 64 + 128) * op.blocks};
}

}  // namespace headway::kernels
