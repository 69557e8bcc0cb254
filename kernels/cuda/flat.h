// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"

// For launchers of kernels that process arrays element by element (for_each_flat of device.cuh).
namespace headway::kernels::cuda {

inline constexpr unsigned kFlatThreads = 256;
inline constexpr int kFlatPack = 8;  ///< elements per thread where arrays are packed

inline Grid flat_grid(const Limits& limits, std::int64_t count, bool packed) {
  return {blocks_for(packed ? (count + kFlatPack - 1) / kFlatPack : count, kFlatThreads, limits)};
}

/// Fails unless there are elements and every address is aligned for the format.
template <class... Pointers>
void require_flat(const char* kernel, NumberFormat format, std::int64_t count,
                  Pointers... addresses) {
  require(count > 0, kernel, "there must be at least one element");
  const auto bytes = static_cast<std::size_t>(bits_of(format)) / 8;
  (require_aligned(addresses, bytes, kernel, "an array"), ...);
}

}  // namespace headway::kernels::cuda
