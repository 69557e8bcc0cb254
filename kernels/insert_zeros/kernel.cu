// SPDX-License-Identifier: MIT
#include "kernels/insert_zeros/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

/// A thread writes one number, or eight of one position: writes are consecutive, reads are every
/// stride-th.
template <class T, int kStep>
__device__ void spread_numbers(const InsertZerosParameters& a) {
  const InsertZeros& s = a.shape;
  const std::int64_t results = s.maps * s.to_height * s.to_width * s.inner;
  for (std::int64_t i = global_thread() * kStep; i < results; i += global_threads() * kStep) {
    const std::int64_t place = i / s.inner;
    const std::int64_t x = place % s.to_width;
    const std::int64_t y = place / s.to_width % s.to_height;
    const std::int64_t map = place / s.to_width / s.to_height;
    const bool taken =
        x % s.stride == 0 && y % s.stride == 0 && x / s.stride < s.width && y / s.stride < s.height;
    Pack<T, kStep> numbers;
    if (taken) {
      const std::int64_t from =
          ((map * s.height + y / s.stride) * s.width + x / s.stride) * s.inner + i % s.inner;
      numbers = *reinterpret_cast<const Pack<T, kStep>*>(static_cast<const T*>(a.from) + from);
    } else {
      for (int k = 0; k < kStep; ++k) numbers.at[k] = from_float<T>(0.0F);
    }
    if constexpr (kStep == 1)
      static_cast<T*>(a.to)[i] = numbers.at[0];
    else
      store_pack(static_cast<T*>(a.to) + i, numbers);
  }
}

template <class T>
__device__ void insert_zeros_body(const InsertZerosParameters& a) {
  if (a.packed)
    spread_numbers<T, kPack>(a);
  else
    spread_numbers<T, 1>(a);
}

HEADWAY_KERNEL_PER_FORMAT(insert_zeros, 256, InsertZerosParameters, insert_zeros_body)

}  // namespace headway::kernels::cuda
