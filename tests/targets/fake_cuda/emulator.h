// SPDX-License-Identifier: MIT
// Included in front of a kernel file (kernels/*/*.cu, or generated code) to run it on the processor: a block's threads are fibers
// that change at barriers, blocks run one after the other. A warp's operation that not all its 32 lanes reach ends
// the program, as it is undefined on a GPU. Memory is guarded (fake_cuda.cc). Device functions of two files must
// differ in name or parameters: here they are linked into one library.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector_functions.h>
#include <vector_types.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "tests/targets/fake_cuda/emulator_kernel.h"
#include "tests/targets/fake_cuda/emulator_mma.h"

// Blocks run one at a time, so that what a block shares may be static.
#undef __shared__
#define __shared__ static
#undef __forceinline__
#define __forceinline__ inline

#pragma GCC visibility push(default)  // generated code is a library of its own
namespace emulator {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};
extern Index thread_index, block_index, block_extent, grid_extent;

void wait_for_block();
void wait_for_warp();
/// Leaves 8 bytes for the other lanes; then the bytes that `lane` left.
std::uint64_t exchange(std::uint64_t bits, unsigned lane);
unsigned lane();
unsigned ballot(bool vote);
/// Ends the program, naming kernel, block and thread.
[[noreturn]] void stop(const char* why);
#pragma GCC visibility pop

template <class T>
T from_lane(T value, unsigned other) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = exchange(bits, other);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace emulator

#define threadIdx ::emulator::thread_index
#define blockIdx ::emulator::block_index
#define blockDim ::emulator::block_extent
#define gridDim ::emulator::grid_extent

inline void __syncthreads() {
  emulator::wait_for_block();
}
inline void __syncwarp() {
  emulator::wait_for_warp();
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int with) {
  return emulator::from_lane(value, emulator::lane() ^ static_cast<unsigned>(with));
}
/// From the lane `by` below; the lowest lanes keep their own.
template <class T>
T __shfl_up_sync(unsigned, T value, unsigned by) {
  return emulator::from_lane(value,
                             emulator::lane() < by ? emulator::lane() : emulator::lane() - by);
}
template <class T>
T __shfl_sync(unsigned, T value, int from) {
  return emulator::from_lane(value, static_cast<unsigned>(from));
}
inline unsigned __ballot_sync(unsigned, bool vote) {
  return emulator::ballot(vote);
}
template <class T>
T atomicAdd(T* at, T value) {
  const T before = *at;
  *at += value;
  return before;
}
template <class T>
T atomicMin(T* at, T value) {
  const T before = *at;
  if (value < before) *at = value;
  return before;
}
template <class T>
void __stwb(T* at, T value) {
  *at = value;
}
inline int __popc(unsigned bits) {
  return __builtin_popcount(bits);
}
inline float __fadd_rn(float a, float b) {
  return a + b;
}
inline float __fsub_rn(float a, float b) {
  return a - b;
}
inline float __fmul_rn(float a, float b) {
  return a * b;
}
inline float rsqrtf(float x) {
  return 1.0F / sqrtf(x);
}

#define HEADWAY_KERNEL(name, threads, Parameters)                                         \
  static void name(const Parameters& a);                                                  \
  static const emulator::Kernel name##_kernel(                                            \
      #name, threads, sizeof(Parameters),                                                 \
      [](const void* parameters) { name(*static_cast<const Parameters*>(parameters)); }); \
  static void name(const Parameters& a)
