// SPDX-License-Identifier: MIT
#include "kernels/jpeg_blocks/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {

Launches launches(const Limits& limits, const DecodeJpegBlocks& op) {
  constexpr const char* kSamples = "jpeg_samples";
  constexpr const char* kPixels = "jpeg_pixels";
  constexpr std::int64_t kThreadsOfBlock = 8;
  if (op.images == 0) return {};
  require(op.images > 0 && op.blocks >= op.images, kSamples,
          "there must be at least one block for each image");
  require_aligned(op.coefficients, 16, kSamples, "the array of coefficients");
  require_aligned(op.pictures, alignof(JpegPicture), kSamples, "the list of pictures");
  require_aligned(op.samples, 8, kSamples, "the scratch memory");
  require_aligned(op.to, 1, kPixels, "the result");
  const Grid grid{blocks_for(op.blocks * kThreadsOfBlock, kFlatThreads, limits)};
  return {make_launch("jpeg_blocks", kSamples, grid, kFlatThreads, op),
          make_launch("jpeg_blocks", kPixels, grid, kFlatThreads, op)};
}

}  // namespace headway::kernels::cuda
