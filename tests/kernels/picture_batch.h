// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/picture_resize/op.h"
#include "tests/kernels/random_array.h"

namespace headway::test {

/// Pictures of random values, one after the other, at odd offsets too, and which part of each becomes an image.
struct PictureBatch {
  std::vector<std::uint8_t> bytes;
  std::vector<kernels::PicturePart> parts;

  void add(int height, int width, float top, float left, float rows, float columns, int mirrored) {
    const auto number = static_cast<std::uint32_t>(parts.size());
    parts.push_back({static_cast<std::int64_t>(bytes.size()), height, width, top, left, rows,
                     columns, mirrored});
    const auto picture = random_bytes(std::int64_t{3} * height * width, number + 1);
    bytes.insert(bytes.end(), picture.begin(), picture.end());
    bytes.insert(bytes.end(), 1 + number % 3, 77);
  }
};

}  // namespace headway::test
