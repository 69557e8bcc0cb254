// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/jpeg_blocks/op.h"

namespace headway::trainer {

/// The memory that a JPEG needs while it is decoded.
struct JpegExtent {
  int height = 0;  ///< in pixels
  int width = 0;
  std::int64_t blocks = 0;  ///< of 8 x 8 coefficients, over all planes

  std::int64_t coefficients() const { return 64 * blocks; }
  std::int64_t pixels() const { return std::int64_t{height} * width; }
};

/// Reads the extent from a JPEG, or from its first bytes. Returns nothing when the header, which
/// metadata can make long, continues beyond `bytes`. Accepts Huffman and arithmetic codes,
/// sequential and progressive, 8 bits, grey or YCbCr with chroma at half or all rows and columns.
/// Throws Error (bad input) naming `origin` when the bytes are another kind of JPEG (which
/// `--decode step` may accept) or no JPEG, or when the header is damaged or has more than 20000
/// pixels a side. Thread safe; takes some microseconds.
std::optional<JpegExtent> jpeg_extent(std::span<const std::byte> bytes, std::string_view origin);

/// First half of decoding: the entropy coding, which is serial and does not suit a GPU. Fills `to`
/// with the coefficients of the planes, one plane after the other; jpeg_extent gives their number.
/// `offset` is the position of `to` among the coefficients of all pictures; the planes' offsets in
/// the result include it. `first_block` and `to` of the result are 0. Throws as jpeg_extent does,
/// and when the file is damaged, cut off, or has more coefficients than `to` can hold. Thread safe.
/// libjpeg keeps a copy of all coefficients meanwhile.
kernels::JpegPicture read_jpeg_coefficients(std::span<const std::byte> bytes,
                                            std::string_view origin, std::span<std::int16_t> to,
                                            std::int64_t offset = 0);

}  // namespace headway::trainer
