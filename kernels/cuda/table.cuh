// SPDX-License-Identifier: MIT
// Device code of table.h.
#pragma once

#include "kernels/cuda/device.cuh"
#include "kernels/cuda/table.h"

namespace headway::kernels::cuda {

/// The last entry whose first chunk is at or before `chunk`.
template <class Entry>
__device__ __forceinline__ int entry_of_chunk(const Entry* entries, int count, std::int64_t chunk) {
  int low = 0;
  int high = count - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (entries[middle].first_chunk <= chunk)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/// Calls body(entry, chunk of the launch, chunk of the entry) for each chunk of this block in turn.
template <class Step, class Entry, class Body>
__device__ __forceinline__ void for_each_entry_chunk(const Step& by, const Entry* entries,
                                                     const Body& body) {
  for (std::int64_t chunk = blockIdx.x; chunk < by.chunks; chunk += gridDim.x) {
    const Entry& entry = entries[entry_of_chunk(entries, by.tensors, chunk)];
    body(entry, chunk, chunk - entry.first_chunk);
  }
}

template <class... Pointers>
__device__ __forceinline__ std::uintptr_t address_bits(Pointers... addresses) {
  return (reinterpret_cast<std::uintptr_t>(addresses) | ...);
}

}  // namespace headway::kernels::cuda
