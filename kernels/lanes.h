// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>

#include "kernels/panel.h"

namespace headway::kernels {

/// Eight floats as one value: GCC's and clang's vector extension, so that sums over many rows stay in
/// registers whatever the compiler's loop optimiser thinks. `load` and `store` take any address.
using Vector [[gnu::vector_size(32)]] = float;
inline constexpr int kVectorFloats = 8;
inline constexpr int kVectorsPerRow = kLanes / kVectorFloats;

template <class T>
[[gnu::always_inline]] inline T load(const float* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}
template <class T>
[[gnu::always_inline]] inline void store(float* address, T value) {
  std::memcpy(address, &value, sizeof value);
}

}  // namespace headway::kernels
