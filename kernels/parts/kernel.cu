// SPDX-License-Identifier: MIT
#include "kernels/parts/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

/// Each element i of the table is also an element of a part; a thread moves one, or eight.
template <class T, bool kJoin>
__device__ void move_parts_body(const PartsParameters& a) {
  const int step = a.packed ? kPack : 1;
  for (std::int64_t i = global_thread() * step; i < a.images * a.row;
       i += global_threads() * step) {
    const std::int64_t image = i / a.row;
    const std::int64_t column = i % a.row;
    int p = 0;
    while (column >= a.begin[p + 1]) ++p;
    const std::int64_t elements = a.begin[p + 1] - a.begin[p];
    T* const part = static_cast<T*>(a.part[p]) + image * elements + column - a.begin[p];
    T* const table = static_cast<T*>(a.table) + i;
    T* const to = kJoin ? table : part;
    const T* const from = kJoin ? part : table;
    if (a.packed)
      *reinterpret_cast<Pack<T, kPack>*>(to) = *reinterpret_cast<const Pack<T, kPack>*>(from);
    else
      *to = *from;
  }
}
template <class T>
__device__ void join_parts_body(const PartsParameters& a) {
  move_parts_body<T, true>(a);
}
template <class T>
__device__ void split_parts_body(const PartsParameters& a) {
  move_parts_body<T, false>(a);
}

HEADWAY_KERNEL_PER_FORMAT(join_parts, 256, PartsParameters, join_parts_body)
HEADWAY_KERNEL_PER_FORMAT(split_parts, 256, PartsParameters, split_parts_body)

}  // namespace headway::kernels::cuda
