// SPDX-License-Identifier: MIT
#include "kernels/image_shift/op.h"

#include <algorithm>

#include "kernels/parallel.h"

namespace headway::kernels {

void shift_image(const ImageShift& shift, const std::uint8_t* from, int height, int width,
                 float scale, float offset, float* to) {
  auto value = [=](std::uint8_t pixel) { return static_cast<float>(pixel) * scale + offset; };
  // The columns of the result that show part of the image. In a mirrored image, columns count from
  // the right edge.
  const int right = shift.mirrored ? -shift.right : shift.right;
  const int begin = std::clamp(-right, 0, width);
  const int end = std::clamp(width - right, begin, width);
  for (int y = 0; y < height; ++y, to += width) {
    const int from_y = y + shift.down;
    if (from_y < 0 || from_y >= height) {
      std::fill_n(to, width, value(0));
      continue;
    }
    const std::uint8_t* row = from + std::int64_t{from_y} * width;
    std::fill(to, to + begin, value(0));
    if (shift.mirrored) {
      for (int x = begin; x < end; ++x) to[x] = value(row[width - 1 - x - right]);
    } else {
      for (int x = begin; x < end; ++x) to[x] = value(row[x + right]);
    }
    std::fill(to + end, to + width, value(0));
  }
}

void run(const ShiftImages& op) {
  const std::int64_t pixels = std::int64_t{op.height} * op.width;
  const std::int64_t grain = kFlatGrain / std::max<std::int64_t>(1, pixels);
  parallel_for(op.images, grain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      shift_image(op.shifts[i], op.from + i * pixels, op.height, op.width, op.scale, op.offset,
                  op.to + i * pixels);
  });
}

}  // namespace headway::kernels
