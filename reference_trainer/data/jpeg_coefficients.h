// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/jpeg_blocks/op.h"

namespace headway::trainer {

/// The memory that a JPEG takes on its way to pixels.
struct JpegExtent {
  int height = 0;  ///< in pixels
  int width = 0;
  std::int64_t blocks = 0;  ///< of 8 x 8 coefficients, of all planes

  std::int64_t coefficients() const { return 64 * blocks; }
  std::int64_t pixels() const { return std::int64_t{height} * width; }
};

/// From a JPEG, or from as much of its beginning as is there; nothing: its header, which metadata can make long, goes on beyond
/// that. Taken are Huffman and arithmetic codes, sequential and progressive, 8 bits, grey or YCbCr with chroma of half or all
/// rows and columns. Throws Error (bad input) naming `origin` when the bytes are another JPEG or none, which `--decode step`
/// may take, or when the header is damaged or tells of more than 20000 pixels a side. Thread safe; takes some microseconds.
std::optional<JpegExtent> jpeg_extent(std::span<const std::byte> bytes, std::string_view origin);

/// The first half of decoding: what is coded bit after bit, which no GPU does well. Fills `to` with the coefficients of the planes,
/// one after the other, as many as jpeg_extent says. `offset` is where `to` begins among the coefficients of all pictures: the planes'
/// offsets count from there; first_block and `to` of the result are 0. Throws as jpeg_extent, and when the file is damaged,
/// cut off, or has more coefficients than `to` has room. Thread safe. libjpeg keeps a copy of all coefficients meanwhile.
kernels::JpegPicture read_jpeg_coefficients(std::span<const std::byte> bytes,
                                            std::string_view origin, std::span<std::int16_t> to,
                                            std::int64_t offset = 0);

}  // namespace headway::trainer
