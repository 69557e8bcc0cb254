// SPDX-License-Identifier: MIT
#include "kernels/compress_half/launch.h"

#include "kernels/cast/launch.h"
#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {

Launches launches(const Limits& limits, const CompressHalf& op) {
  constexpr const char* kKernel = "compress_half";
  if (op.count == 0) return {};
  require_flat(kKernel, NumberFormat::kFloat32, op.count, op.from, op.residual);
  require_aligned(op.to, 2, kKernel, "the result");
  const bool packed = all_packed(op.from, op.residual, op.to);
  return {make_launch(kKernel, kKernel, flat_grid(limits, op.count, packed), kFlatThreads,
                      CompressHalfParameters{op, packed})};
}

Launches launches(const Limits& limits, const DecompressHalf& op) {
  if (op.count == 0) return {};
  return {cast(limits, NumberFormat::kFloat16, NumberFormat::kFloat32, op.count, op.from, op.to)};
}

}  // namespace headway::kernels::cuda
