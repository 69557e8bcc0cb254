// SPDX-License-Identifier: MIT
// The functions of kernels/cuda/mma.cuh on the processor: fragments lie among the lanes as the PTX ISA says, matrices are
// read from where the lanes point, copies arrive when they are waited for and not before (until then there is NaN).
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <bit>
#include <cmath>
#include <cstdint>

#define HEADWAY_MMA

namespace emulator {

/// Shared memory of the launch, filled with NaN for each block; its end is guarded.
unsigned char* launched_shared();

/// Of the values i of a lane's fragment: its row and column (PTX ISA 9.2, section 9.7.14.5.8).
struct Entry {
  unsigned row, column;
};
Entry entry_of_a(unsigned lane, unsigned i);  // 0 to 7
Entry entry_of_b(unsigned lane, unsigned i);  // 0 to 3
Entry entry_of_d(unsigned lane, unsigned i);  // 0 to 3

void multiply_add(float (&d)[4], const float (&a)[8], const float (&b)[4]);
void load_matrices(std::uint32_t (&to)[4], const void* row, bool transposed);

void copy_async(void* to, const void* from, unsigned bytes, bool there);
void close_copies();
void wait_for_copies(unsigned newest);

template <class T>
float half_of(std::uint32_t bits, unsigned which) {
  return static_cast<float>(std::bit_cast<T>(static_cast<std::uint16_t>(bits >> (16 * which))));
}

}  // namespace emulator

namespace headway::kernels::cuda {

inline unsigned char* launched_shared() {
  return emulator::launched_shared();
}
template <class T>
void multiply_add(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  const std::uint32_t b[2] = {b0, b1};
  float left[8];
  float right[4];
  for (unsigned i = 0; i < 8; ++i) left[i] = emulator::half_of<T>(a[i / 2], i % 2);
  for (unsigned i = 0; i < 4; ++i) right[i] = emulator::half_of<T>(b[i / 2], i % 2);
  emulator::multiply_add(d, left, right);
}
using SharedAddress = std::uintptr_t;
inline SharedAddress shared_address(const void* at) {
  return reinterpret_cast<SharedAddress>(at);
}
inline void load_matrices(std::uint32_t (&to)[4], SharedAddress row) {
  emulator::load_matrices(to, reinterpret_cast<const void*>(row), false);
}
inline void load_transposed(std::uint32_t (&to)[4], SharedAddress row) {
  emulator::load_matrices(to, reinterpret_cast<const void*>(row), true);
}
inline void copy_async16(void* to, const void* from, bool there) {
  emulator::copy_async(to, from, 16, there);
}
inline void copy_async4(void* to, const void* from, bool there) {
  emulator::copy_async(to, from, 4, there);
}
inline void close_copies() {
  emulator::close_copies();
}
template <int kNewest>
void wait_for_copies() {
  emulator::wait_for_copies(kNewest);
}
inline float fast_exp2(float x) {
  return std::exp2(x);
}

}  // namespace headway::kernels::cuda
