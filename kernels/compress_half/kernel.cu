// SPDX-License-Identifier: MIT
#include "kernels/compress_half/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

/// Rounds a value to a half; the rounding error stays in `residual`.
__device__ __forceinline__ __half compress_to_half(float from, float factor, float& residual) {
  const float wanted = plus(times(from, factor), residual);
  const __half half = __float2half_rn(wanted);
  residual = plus(wanted, -__half2float(half));
  return half;
}

HEADWAY_KERNEL(compress_half, 256, CompressHalfParameters) {
  const CompressHalf& op = a.op;
  __half* const to = reinterpret_cast<__half*>(op.to);
  const std::int64_t packs = a.packed ? op.count / kPack : 0;
  for (std::int64_t i = global_thread(); i < packs; i += global_threads()) {
    float from[kPack], residual[kPack];
    load8(op.from + i * kPack, true, kPack, from);
    load8(op.residual + i * kPack, true, kPack, residual);
    Pack<__half, kPack> halves;
#pragma unroll
    for (int k = 0; k < kPack; ++k)
      halves.at[k] = compress_to_half(from[k], op.factor, residual[k]);
    store_pack(to + i * kPack, halves);
    store8(op.residual + i * kPack, true, kPack, residual);
  }
  for (std::int64_t i = packs * kPack + global_thread(); i < op.count; i += global_threads())
    to[i] = compress_to_half(op.from[i], op.factor, op.residual[i]);
}

}  // namespace headway::kernels::cuda
