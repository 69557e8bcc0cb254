// SPDX-License-Identifier: MIT
#include "kernels/add/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

template <class T>
__device__ void add_body(const AddParameters& a) {
  for_each_flat(
      a.count, a.packed, static_cast<T*>(a.c), [](float x, float y) { return x + y; },
      static_cast<const T*>(a.a), static_cast<const T*>(a.b));
}

HEADWAY_KERNEL_PER_FORMAT(add, 256, AddParameters, add_body)

}  // namespace headway::kernels::cuda
