// SPDX-License-Identifier: MIT
// Replaces the toolkit's headers for device.cuh, for code that NVRTC compiles where there is no
// toolkit: fixed-width integers and the two half formats. Conversions use the instructions that the
// toolkit's functions of these names compile to (sm_80 and newer).
#pragma once

namespace std {
using int64_t = long;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
}  // namespace std

struct __half {
  unsigned short bits;
};
struct __nv_bfloat16 {
  unsigned short bits;
};

__device__ __forceinline__ float __half2float(__half x) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(x.bits));
  return result;
}
__device__ __forceinline__ __half __float2half_rn(float x) {
  __half result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(x));
  return result;
}
__device__ __forceinline__ float __bfloat162float(__nv_bfloat16 x) {
  return __uint_as_float(static_cast<unsigned>(x.bits) << 16);
}
__device__ __forceinline__ __nv_bfloat16 __float2bfloat16_rn(float x) {
  __nv_bfloat16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(x));
  return result;
}
