// SPDX-License-Identifier: MIT
#include "kernels/picture_resize/launch.h"

#include "kernels/cuda/image_grid.h"

namespace headway::kernels::cuda {

Launches launches(const Limits& limits, const ResizePictures& op) {
  constexpr const char* kKernel = "resize_pictures";
  constexpr unsigned kThreads = kResizeTileWidth * kResizeTileHeight;
  // Parts differ in size, and so blocks differ in work: many blocks distribute it evenly.
  constexpr int kPerMultiprocessor = 64;
  if (op.images == 0) return {};
  require_image(kKernel, op.height, op.width);
  require_aligned(op.from, 1, kKernel, "the first picture");
  require_aligned(op.parts, alignof(PicturePart), kKernel, "the list of parts");
  require_aligned(op.to, 1, kKernel, "the result");
  auto tiles_of = [](int pixels, int tile) {
    return (static_cast<unsigned>(pixels) + static_cast<unsigned>(tile) - 1) /
           static_cast<unsigned>(tile);
  };
  const unsigned across = tiles_of(op.width, kResizeTileWidth);
  const unsigned tiles = across * tiles_of(op.height, kResizeTileHeight);
  const bool packed = op.width % 4 == 0 && reinterpret_cast<std::uintptr_t>(op.to) % 4 == 0;
  return {make_launch("picture_resize", kKernel,
                      image_grid(limits, op.images, tiles, 1, kPerMultiprocessor), kThreads,
                      ResizePicturesParameters{op, across, tiles, packed})};
}

}  // namespace headway::kernels::cuda
