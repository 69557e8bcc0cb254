// SPDX-License-Identifier: MIT
// Included by every kernel file: the kernel macro, number types, packs of 16 bytes, sums over warps
// and blocks.
#pragma once

#ifdef __CUDACC_RTC__
#include "kernels/cuda/runtime_compiled.cuh"
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#endif

#include "kernels/cuda/functors.h"

/// HEADWAY_KERNEL(name, threads, Parameters) { ... } defines a kernel of at most `threads` threads
/// per block, whose one parameter is `const Parameters& a`. The name is not mangled, so that the
/// host finds it. A test defines the macro first and runs the same source on the processor
/// (tests/targets/fake_cuda/).
#ifndef HEADWAY_KERNEL
#define HEADWAY_KERNEL(name, threads, Parameters) \
  extern "C" __global__ void __launch_bounds__(threads) name(const __grid_constant__ Parameters a)
#endif

/// Defines the kernel for each of the three array formats, with BODY<T>(a).
#define HEADWAY_KERNEL_PER_FORMAT(name, threads, Parameters, BODY) \
  HEADWAY_KERNEL(name##_f32, threads, Parameters) {                \
    BODY<float>(a);                                                \
  }                                                                \
  HEADWAY_KERNEL(name##_f16, threads, Parameters) {                \
    BODY<__half>(a);                                               \
  }                                                                \
  HEADWAY_KERNEL(name##_bf16, threads, Parameters) {               \
    BODY<__nv_bfloat16>(a);                                        \
  }

namespace headway::kernels::cuda {

inline constexpr unsigned kFullWarp = 0xFFFFFFFFU;
inline constexpr int kLanes = 32;

__device__ __forceinline__ float to_float(float x) {
  return x;
}
__device__ __forceinline__ float to_float(__half x) {
  return __half2float(x);
}
__device__ __forceinline__ float to_float(__nv_bfloat16 x) {
  return __bfloat162float(x);
}

template <class T>
__device__ __forceinline__ T from_float(float x);
template <>
__device__ __forceinline__ float from_float<float>(float x) {
  return x;
}
template <>
__device__ __forceinline__ __half from_float<__half>(float x) {
  return __float2half_rn(x);
}
template <>
__device__ __forceinline__ __nv_bfloat16 from_float<__nv_bfloat16>(float x) {
  return __float2bfloat16_rn(x);
}

/// kCount values that are loaded and stored together, 16 bytes per instruction.
template <class T, int kCount>
struct alignas(sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16) Pack {
  T at[kCount];
};

/// Stores a pack in global memory at a multiple of 16 bytes. It uses an intrinsic, because nvcc
/// 13.0 turns a plain assignment into one store per element in many kernels. Loads are not
/// affected.
template <class T, int kCount>
__device__ __forceinline__ void store_pack(T* to, const Pack<T, kCount>& pack) {
  constexpr int kWords = sizeof(pack) / sizeof(uint4);
  static_assert(sizeof(pack) == kWords * sizeof(uint4));
  uint4 words[kWords];
  memcpy(words, &pack, sizeof pack);
#pragma unroll
  for (int w = 0; w < kWords; ++w) __stwb(reinterpret_cast<uint4*>(to) + w, words[w]);
}

/// Loads a pack as floats. Its address is a multiple of its size, or of 16 bytes where it is
/// larger.
template <class T, int kCount>
__device__ __forceinline__ void load_pack(const T* from, float (&to)[kCount]) {
  const Pack<T, kCount> pack = *reinterpret_cast<const Pack<T, kCount>*>(from);
#pragma unroll
  for (int i = 0; i < kCount; ++i) to[i] = to_float(pack.at[i]);
}
template <class T, int kCount>
__device__ __forceinline__ void store_pack(T* to, const float (&from)[kCount]) {
  Pack<T, kCount> pack;
#pragma unroll
  for (int i = 0; i < kCount; ++i) pack.at[i] = from_float<T>(from[i]);
  if constexpr (sizeof(pack) % sizeof(uint4) == 0) {
    store_pack(to, pack);
  } else {
    *reinterpret_cast<Pack<T, kCount>*>(to) = pack;
  }
}

/// Loads the values of a pack as floats. Where `packed` is false (the address or the row length is
/// not a multiple), values are loaded one by one, and those from `valid` on are 0.
inline constexpr int kPack = 8;
template <class T>
__device__ __forceinline__ void load8(const T* from, bool packed, std::int64_t valid,
                                      float (&to)[kPack]) {
  if (packed) {
    load_pack(from, to);
  } else {
#pragma unroll
    for (int i = 0; i < kPack; ++i) to[i] = i < valid ? to_float(from[i]) : 0.0F;
  }
}
template <class T>
__device__ __forceinline__ void store8(T* to, bool packed, std::int64_t valid,
                                       const float (&from)[kPack]) {
  if (packed) {
    store_pack(to, from);
  } else {
#pragma unroll
    for (int i = 0; i < kPack; ++i)
      if (i < valid) to[i] = from_float<T>(from[i]);
  }
}

/// The same for four floats.
inline constexpr int kQuad = 4;
__device__ __forceinline__ void load4(const float* from, bool packed, std::int64_t valid,
                                      float (&to)[kQuad]) {
  if (packed) {
    const Pack<float, kQuad> pack = *reinterpret_cast<const Pack<float, kQuad>*>(from);
#pragma unroll
    for (int i = 0; i < kQuad; ++i) to[i] = pack.at[i];
  } else {
#pragma unroll
    for (int i = 0; i < kQuad; ++i) to[i] = i < valid ? from[i] : 0.0F;
  }
}
__device__ __forceinline__ void store4(float* to, bool packed, std::int64_t valid,
                                       const float (&from)[kQuad]) {
  if (packed) {
    store_pack(to, Pack<float, kQuad>{{from[0], from[1], from[2], from[3]}});
  } else {
#pragma unroll
    for (int i = 0; i < kQuad; ++i)
      if (i < valid) to[i] = from[i];
  }
}

__device__ __forceinline__ std::int64_t global_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ std::int64_t global_threads() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

/// Every lane gets the sum (or the largest) over all 32 lanes.
template <class T>
__device__ __forceinline__ T warp_sum(T x) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) x += __shfl_xor_sync(kFullWarp, x, step);
  return x;
}
__device__ __forceinline__ float warp_largest(float x) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2)
    x = fmaxf(x, __shfl_xor_sync(kFullWarp, x, step));
  return x;
}

/// Every thread gets the sum over its group: a warp (kGroup = 32) or the whole block. For a block,
/// all its threads must call it.
template <int kGroup, class T>
__device__ __forceinline__ T group_sum(T x) {
  x = warp_sum(x);
  if constexpr (kGroup > kLanes) {
    __shared__ T parts[kGroup / kLanes];
    __syncthreads();  // the parts of the previous sum may still be read
    if (threadIdx.x % kLanes == 0) parts[threadIdx.x / kLanes] = x;
    __syncthreads();
    x = 0;
#pragma unroll
    for (int i = 0; i < kGroup / kLanes; ++i) x += parts[i];
  }
  return x;
}
template <int kGroup>
__device__ __forceinline__ float group_largest(float x) {
  x = warp_largest(x);
  if constexpr (kGroup > kLanes) {
    __shared__ float parts[kGroup / kLanes];
    __syncthreads();
    if (threadIdx.x % kLanes == 0) parts[threadIdx.x / kLanes] = x;
    __syncthreads();
    x = parts[0];
#pragma unroll
    for (int i = 1; i < kGroup / kLanes; ++i) x = fmaxf(x, parts[i]);
  }
  return x;
}

/// out[i] = f(in[i]...) for all `count` elements, in packs of 16 bytes where `packed`. `threads`
/// threads share the work; this one has number `thread`.
template <class Out, class F, class... In>
__device__ __forceinline__ void share_flat(std::int64_t thread, std::int64_t threads,
                                           std::int64_t count, bool packed, Out* out, const F& f,
                                           const In*... in) {
  const std::int64_t packs = packed ? count / kPack : 0;
  for (std::int64_t i = thread; i < packs; i += threads) {
    // By value: through a reference the compiler would load element by element.
    auto loaded = [i](const auto* from) {
      Pack<float, kPack> pack;
      load8(from + i * kPack, true, kPack, pack.at);
      return pack;
    };
    auto all = [&](const auto&... x) {
      float result[kPack];
#pragma unroll
      for (int k = 0; k < kPack; ++k) result[k] = f(x.at[k]...);
      store8(out + i * kPack, true, kPack, result);
    };
    all(loaded(in)...);
  }
  for (std::int64_t i = packs * kPack + thread; i < count; i += threads)
    out[i] = from_float<Out>(f(to_float(in[i])...));
}
/// The same, shared by all threads of the launch.
template <class Out, class F, class... In>
__device__ __forceinline__ void for_each_flat(std::int64_t count, bool packed, Out* out, const F& f,
                                              const In*... in) {
  share_flat(global_thread(), global_threads(), count, packed, out, f, in...);
}

}  // namespace headway::kernels::cuda
