// SPDX-License-Identifier: MIT
// The warp's instructions for the tensor cores, and for moving their operands into shared memory
// and registers. Each function is one instruction of the PTX ISA (9.2); all need sm_80 or newer.
// All 32 lanes must call them together, except for the copies.
//
// Fragments of mma.m16n8k16 (section 9.7.14.5.8; g = lane / 4, t = lane % 4; two values a register, the first in its low half):
//   a[4], a matrix of 16 x 16:  rows g, g + 8, g, g + 8; columns 2t and 2t + 1, in the last two registers 8 more
//   b0, b1, one of 16 x 8:      column g; rows 2t and 2t + 1, in b1 8 more
//   d[4], one of 16 x 8:        rows g, g, g + 8, g + 8; columns 2t, 2t + 1, 2t, 2t + 1
#pragma once

#include "kernels/cuda/device.cuh"

// The emulator is included first and defines the same functions
// (tests/targets/fake_cuda/emulator_mma.h).
#ifndef HEADWAY_MMA

namespace headway::kernels::cuda {

/// The shared memory that the launch asks for, at a multiple of 256 bytes.
__device__ __forceinline__ unsigned char* launched_shared() {
  extern __shared__ __align__(256) unsigned char headway_shared[];
  return headway_shared;
}

/// d += a·b; products are exact, sums are FP32 (section 9.7.14.5.14).
template <class T>
__device__ __forceinline__ void multiply_add(float (&d)[4], const std::uint32_t (&a)[4],
                                             std::uint32_t b0, std::uint32_t b1);
template <>
__device__ __forceinline__ void multiply_add<__half>(float (&d)[4], const std::uint32_t (&a)[4],
                                                     std::uint32_t b0, std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
template <>
__device__ __forceinline__ void multiply_add<__nv_bfloat16>(float (&d)[4],
                                                            const std::uint32_t (&a)[4],
                                                            std::uint32_t b0, std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// An address in shared memory, for address arithmetic.
using SharedAddress = std::uint32_t;
__device__ __forceinline__ SharedAddress shared_address(const void* at) {
  return static_cast<SharedAddress>(__cvta_generic_to_shared(at));
}
/// Loads four 8 x 8 matrices from shared memory, one into each register (section 9.7.14.5.15). Lane
/// l passes the address of row l % 8 of matrix l / 8 (16 bytes, at a multiple of 16) and gets the
/// values 2t and 2t + 1 of row g of each matrix.
__device__ __forceinline__ void load_matrices(std::uint32_t (&to)[4], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row));
}
/// The same matrices transposed: a lane gets the values g of rows 2t and 2t + 1.
__device__ __forceinline__ void load_transposed(std::uint32_t (&to)[4], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row));
}

/// Begins to copy 16 bytes into shared memory, bypassing the registers and the first-level cache.
/// Where `there` is false, writes zeros instead; `from` must be a valid address in either case.
__device__ __forceinline__ void copy_async16(void* to, const void* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
               "l"(__cvta_generic_to_global(from)), "r"(there ? 16 : 0)
               : "memory");
}
__device__ __forceinline__ void copy_async4(void* to, const void* from, bool there) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(to)),
               "l"(__cvta_generic_to_global(from)), "r"(there ? 4 : 0)
               : "memory");
}
/// Makes the copies that this thread began since the last call a group, which may be empty.
__device__ __forceinline__ void close_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Waits for all of this thread's groups except the `kNewest` newest. Other threads see the copied
/// data after the next barrier.
template <int kNewest>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kNewest) : "memory");
}

/// 2^x within 2 units of the last place, 0 below 2^-126. It is one instruction; exp2f needs more to
/// handle smaller results.
__device__ __forceinline__ float fast_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace headway::kernels::cuda

#endif

namespace headway::kernels::cuda {

/// Two values in one register of a fragment.
template <class T>
__device__ __forceinline__ std::uint32_t packed_pair(float low, float high);
template <>
__device__ __forceinline__ std::uint32_t packed_pair<__half>(float low, float high) {
  const __half2 pair = __floats2half2_rn(low, high);
  std::uint32_t bits;
  memcpy(&bits, &pair, sizeof bits);
  return bits;
}
template <>
__device__ __forceinline__ std::uint32_t packed_pair<__nv_bfloat16>(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  std::uint32_t bits;
  memcpy(&bits, &pair, sizeof bits);
  return bits;
}

}  // namespace headway::kernels::cuda
