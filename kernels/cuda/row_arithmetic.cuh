// SPDX-License-Identifier: MIT
// The operation of each row program instruction (kernels/loops/row_op.h) on an element, for the
// interpreter and for generated code. Sums and products that are instructions are rounded
// separately. If the compiler fused them with their neighbours, they would not have the
// interpreter's bits.
#pragma once

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

__device__ __forceinline__ float row_add(float a, float b) {
  return __fadd_rn(a, b);
}
__device__ __forceinline__ float row_subtract(float a, float b) {
  return __fsub_rn(a, b);
}
__device__ __forceinline__ float row_multiply(float a, float b) {
  return __fmul_rn(a, b);
}
__device__ __forceinline__ float row_relu_backward(float a, float b) {
  return a > 0 ? b : 0.0F;
}
__device__ __forceinline__ float row_gelu_backward(float a, float b) {
  return __fmul_rn(b, gelu_slope(a));
}
__device__ __forceinline__ float row_tanh_backward(float a, float b) {
  return __fmul_rn(b, fmaf(-a, a, 1.0F));
}
__device__ __forceinline__ float row_dropout(float a, std::int64_t element, std::uint32_t key,
                                             std::uint32_t limit, float scale) {
  return keeps(static_cast<std::uint64_t>(element), key, limit) ? __fmul_rn(a, scale) : 0.0F;
}
__device__ __forceinline__ float row_rsqrt(float a, float epsilon) {
  return 1.0F / sqrtf(__fadd_rn(a, epsilon));
}
__device__ __forceinline__ float row_rsqrt_backward(float a, float b) {
  return a * a * a * b * -0.5F;
}
/// `a` rounded to the format of arrays of T.
template <class T>
__device__ __forceinline__ float row_round(float a) {
  return to_float(from_float<T>(a));
}

}  // namespace headway::kernels::cuda
