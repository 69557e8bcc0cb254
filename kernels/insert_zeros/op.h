// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace headway::kernels {

/// Spreads the elements of maps: element (h, w) of a map goes to (h·stride, w·stride) of a larger
/// map, with zeros between and behind. There are `maps` maps; each position has `inner` values that
/// stay together (images NHWC: maps = N, inner = C; NCHW: maps = N·C, inner = 1).
struct InsertZeros {
  std::int64_t maps = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t inner = 1;
  std::int64_t stride = 1;
  std::int64_t to_height = 0;  ///< over (height - 1)·stride
  std::int64_t to_width = 0;   ///< over (width - 1)·stride

  std::int64_t results() const { return maps * to_height * to_width * inner; }
};

void insert_zeros(const InsertZeros& shape, const float* from, float* to);

}  // namespace headway::kernels
