// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// One component of a JPEG after entropy decoding: blocks of 8 x 8 quantised coefficients in
/// natural order (not zigzag), [blocks_high][blocks_wide][64]. Its samples are 8·blocks_high rows
/// of 8·blocks_wide bytes, from the same offset. The first ceil(height / rows_per_sample) rows and
/// ceil(width / columns_per_sample) columns of them belong to the picture.
struct JpegPlane {
  std::int64_t offset = 0;  ///< of its first coefficient among all pictures'; a multiple of 64
  std::int32_t blocks_high = 0;
  std::int32_t blocks_wide = 0;
  std::int32_t rows_per_sample = 1;  ///< of the picture per sample: 1 or 2; 1 for the first plane
  std::int32_t columns_per_sample = 1;
  std::uint16_t steps[64] = {};  ///< of quantisation, in natural order
};

struct JpegPicture {
  std::int32_t height = 0;  ///< in pixels; the planes cover at least these
  std::int32_t width = 0;
  std::int32_t planes = 0;  ///< 1: grey, 3: Y, Cb, Cr
  /// The number of blocks in all pictures before it; its own blocks are numbered plane by plane.
  std::int64_t first_block = 0;
  std::int64_t to = 0;  ///< offset of its first value from DecodeJpegBlocks::to
  JpegPlane plane[3];   ///< one after the other in memory
};

/// The second half of decoding (ISO/IEC 10918-1): coefficients · steps, inverse DCT, chroma at
/// every pixel, RGB; a grey picture gets three equal channels. A subsampled chroma sample lies
/// centred between the pixels that share it (ITU-T T.871) and is interpolated linearly: 3/4 of the
/// nearer sample and 1/4 of the farther one along each axis. Beyond an edge, the sample at the edge
/// is used.
///
/// The arithmetic is in integers (kernels/loops/jpeg_arithmetic.h), with the constants, roundings
/// and shortcuts of libjpeg's accurate integer DCT and smooth upsampling. So every device gives the
/// same bits as libjpeg-turbo's own decoder for any picture that an encoder makes. Intermediate
/// values beyond 16 bits, which only a damaged file has, are clamped.
struct DecodeJpegBlocks {
  std::int64_t images = 0;
  std::int64_t blocks = 0;  ///< most that a batch may have: the launch and work_of use it
  const std::int16_t* coefficients = nullptr;
  const JpegPicture* pictures = nullptr;  ///< [images], in the order of first_block
  std::uint8_t* samples = nullptr;        ///< scratch, a byte for every coefficient
  std::uint8_t* to = nullptr;             ///< pictures, each [height][width][3]
};

void run(const DecodeJpegBlocks& op);

/// Per block: 16 transforms of 8 values, each with 22 products and 28 sums, and 64 products by
/// steps (integer operations, counted like floating-point ones). Bytes: coefficients read, samples
/// written and read, pixels written.
constexpr Work work_of(const DecodeJpegBlocks& op) {
  return {864 * op.blocks, (128 + 64 + 64 + 128) * op.blocks};
}

}  // namespace headway::kernels
