// SPDX-License-Identifier: MIT
#include "kernels/insert_zeros/op.h"

#include <algorithm>
#include <cstring>

#include "kernels/parallel.h"

namespace headway::kernels {

void insert_zeros(const InsertZeros& s, const float* from, float* to) {
  const std::int64_t row = s.to_width * s.inner;
  const std::int64_t grain = std::max<std::int64_t>(1, kFlatGrain / row);
  const auto bytes = static_cast<std::size_t>(s.inner) * sizeof(float);
  parallel_for(s.maps * s.to_height, grain, max_threads(),
               [&](std::int64_t begin, std::int64_t end) {
                 std::fill(to + begin * row, to + end * row, 0.0F);
                 for (std::int64_t r = begin; r < end; ++r) {
                   const std::int64_t y = r % s.to_height;
                   if (y % s.stride != 0 || y / s.stride >= s.height) continue;
                   const float* line =
                       from + (r / s.to_height * s.height + y / s.stride) * s.width * s.inner;
                   for (std::int64_t x = 0; x < s.width; ++x)
                     std::memcpy(to + r * row + x * s.stride * s.inner, line + x * s.inner, bytes);
                 }
               });
}

}  // namespace headway::kernels
