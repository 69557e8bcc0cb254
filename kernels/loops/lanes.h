// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/loops/panel.h"

/// Included only by the files of kernels/loops that are compiled several times, each with its own
/// HEADWAY_ISA (a namespace name) and compiler flags. Everything in such a file must live in that
/// namespace or be a compiler builtin: an inline function shared by name could be linked in its
/// widest form and then run on a processor without those instructions.
#ifndef HEADWAY_ISA
#error "compile this file through the loops of kernels/CMakeLists.txt"
#endif

namespace headway::kernels::HEADWAY_ISA {
namespace {

/// Eight floats as one value: GCC's and clang's vector extension, so that sums over many rows stay
/// in registers independently of the compiler's loop optimiser. `load` and `store` take any
/// address.
using Vector [[gnu::vector_size(32)]] = float;
inline constexpr int kVectorFloats = 8;
inline constexpr int kVectorsPerRow = kLanes / kVectorFloats;

template <class T>
[[gnu::always_inline]] inline T load(const float* address) {
  T value;
  __builtin_memcpy(&value, address, sizeof value);
  return value;
}
template <class T>
[[gnu::always_inline]] inline void store(float* address, T value) {
  __builtin_memcpy(address, &value, sizeof value);
}

}  // namespace
}  // namespace headway::kernels::HEADWAY_ISA
