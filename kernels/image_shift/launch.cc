// SPDX-License-Identifier: MIT
#include "kernels/image_shift/launch.h"

#include "kernels/cuda/image_grid.h"

namespace headway::kernels::cuda {

Launches launches(const Limits& limits, const ShiftImages& op) {
  constexpr const char* kKernel = "shift_images";
  constexpr unsigned kThreads = 256;
  if (op.images == 0) return {};
  const std::int64_t pixels = require_image(kKernel, op.height, op.width);
  require_aligned(op.from, 1, kKernel, "the first image");
  require_aligned(op.shifts, alignof(ImageShift), kKernel, "the list of shifts");
  require_aligned(op.to, 4, kKernel, "the result");
  const std::int64_t quads = (pixels + 3) / 4;
  return {make_launch("image_shift", kKernel, image_grid(limits, op.images, quads, kThreads),
                      kThreads, ShiftImagesParameters{op, pixels % 4 == 0 && all_packed(op.to)})};
}

}  // namespace headway::kernels::cuda
