// SPDX-License-Identifier: MIT
#include "kernels/picture_colours/launch.h"

#include <algorithm>

#include "kernels/cuda/image_grid.h"

namespace headway::kernels::cuda {

Launches launches(const Limits& limits, const ColourPictures& op) {
  constexpr const char* kKernel = "colour_pictures";
  // At this number of threads, two blocks are half of what a multiprocessor holds, and few blocks
  // sum the same image.
  const int per_multiprocessor = op.changes ? 2 : 16;
  if (op.images == 0) return {};
  const std::int64_t pixels = require_image(kKernel, op.height, op.width);
  require_aligned(op.from, 1, kKernel, "the first picture");
  if (op.changes)
    require_aligned(op.changes, alignof(ColourChange), kKernel, "the list of changes");
  require_aligned(op.to, 4, kKernel, "the result");
  const bool packed =
      pixels % 4 == 0 && reinterpret_cast<std::uintptr_t>(op.from) % 4 == 0 && all_packed(op.to);
  ColourPicturesParameters by{op, {}, {}, packed};
  std::ranges::copy(op.mean, by.mean);
  std::ranges::copy(op.deviation, by.deviation);
  const Grid grid = image_grid(limits, op.images, packed ? pixels / 4 : pixels, kColourThreads,
                               per_multiprocessor);
  return {make_launch("picture_colours", kKernel, grid, kColourThreads, by)};
}

}  // namespace headway::kernels::cuda
