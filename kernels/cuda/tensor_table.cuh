// SPDX-License-Identifier: MIT
// Device code of tensor_table.h.
#pragma once

#include "kernels/cuda/table.cuh"
#include "kernels/cuda/tensor_table.h"

/// Defines the kernel for both sizes of table; the second macro does so for gradients of each
/// format. BODY<T>(by, tensors).
#define HEADWAY_TABLE_KERNEL(name, BODY, T)       \
  HEADWAY_KERNEL(name##_small, 256, SmallTable) { \
    BODY<T>(a.by, a.tensors);                     \
  }                                               \
  HEADWAY_KERNEL(name##_large, 256, LargeTable) { \
    BODY<T>(a.by, a.tensors);                     \
  }
#define HEADWAY_TABLE_KERNEL_PER_FORMAT(name, BODY) \
  HEADWAY_TABLE_KERNEL(name##_f32, BODY, float)     \
  HEADWAY_TABLE_KERNEL(name##_f16, BODY, __half)    \
  HEADWAY_TABLE_KERNEL(name##_bf16, BODY, __nv_bfloat16)

namespace headway::kernels::cuda {

/// Calls body(tensor, chunk of the launch, first element, end) for each chunk of this block in
/// turn.
template <class Body>
__device__ void for_each_chunk(const TableStep& by, const TableTensor* tensors, const Body& body) {
  for_each_entry_chunk(by, tensors,
                       [&](const TableTensor& t, std::int64_t chunk, std::int64_t of_tensor) {
                         const std::int64_t first = of_tensor * kChunk;
                         body(t, chunk, first, first + kChunk < t.count ? first + kChunk : t.count);
                       });
}

/// Calls body(i, count, packed) for this thread's groups of eight elements, which begin at i.
/// `bits`: the bitwise or of the addresses of all arrays.
template <class Body>
__device__ __forceinline__ void for_each_eight(std::int64_t first, std::int64_t end,
                                               std::uintptr_t bits, const Body& body) {
  for (std::int64_t i = first + static_cast<std::int64_t>(threadIdx.x) * kPack; i < end;
       i += static_cast<std::int64_t>(blockDim.x) * kPack)
    body(i, end - i, bits % 16 == 0 && end - i >= kPack);
}

__device__ inline bool skips(const TableStep& by) {
  return by.state && by.state[1] != 0;  // OptimizerState::overflow
}

/// Writes the copy of the parameter that training computes with.
__device__ __forceinline__ void write_copy(CopyFormat format, void* copy, std::int64_t i,
                                           std::int64_t valid, bool packed,
                                           const float (&values)[kPack]) {
  float rounded[kPack];
  switch (format) {
    case CopyFormat::kNone:
      return;
    case CopyFormat::kFloat16:
      return store8(static_cast<__half*>(copy) + i, packed, valid, values);
    case CopyFormat::kBfloat16:
      return store8(static_cast<__nv_bfloat16*>(copy) + i, packed, valid, values);
    case CopyFormat::kRoundedFloat16:
#pragma unroll
      for (int k = 0; k < kPack; ++k) rounded[k] = to_float(from_float<__half>(values[k]));
      break;
    case CopyFormat::kRoundedBfloat16:
#pragma unroll
      for (int k = 0; k < kPack; ++k) rounded[k] = to_float(from_float<__nv_bfloat16>(values[k]));
      break;
  }
  store8(static_cast<float*>(copy) + i, packed, valid, rounded);
}

}  // namespace headway::kernels::cuda
