// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace headway::trainer {

/// An 8-bit colour image of any size: [height][width][3], red first.
struct Picture {
  int height = 0;
  int width = 0;
  std::vector<std::uint8_t> rgb;

  const std::uint8_t* at(int y, int x) const {
    return rgb.data() + (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                         static_cast<std::size_t>(x)) *
                            3;
  }
};

/// Decodes a JPEG (libjpeg-turbo) or PNG (libpng), told apart by their first bytes. Grey becomes
/// colour; transparent becomes white. Throws Error (bad input) that names `origin` when the bytes are
/// neither, damaged, cut off, or larger than 20000 pixels a side. Thread safe.
Picture decode_picture(std::span<const std::byte> bytes, std::string_view origin);

struct PictureExtent {
  int height = 0;  ///< in pixels
  int width = 0;

  std::int64_t rgb_bytes() const { return std::int64_t{3} * height * width; }
};
/// Reads the extent from a picture, or from its first bytes. Returns nothing when the header
/// continues beyond `bytes`. Throws as decode_picture does. Thread safe.
std::optional<PictureExtent> picture_extent(std::span<const std::byte> bytes,
                                            std::string_view origin);

/// A picture with the opacity of each pixel: alpha [height][width]; 0: invisible.
struct Cutout {
  Picture picture;
  std::vector<std::uint8_t> alpha;
};
/// Decodes as decode_picture does, but keeps transparency; a JPEG has none.
Cutout decode_cutout(std::span<const std::byte> bytes, std::string_view origin);

/// `quality` 1 to 100.
std::vector<std::byte> encode_jpeg(const Picture& picture, int quality);

}  // namespace headway::trainer
