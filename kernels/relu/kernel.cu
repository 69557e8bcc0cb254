// SPDX-License-Identifier: MIT
#include "kernels/relu/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

template <class T>
__device__ void forward_body(const ReluParameters& a) {
  for_each_flat(
      a.count, a.packed, static_cast<T*>(a.out), [](float x) { return relu(x); },
      static_cast<const T*>(a.x));
}
template <class T>
__device__ void backward_body(const ReluParameters& a) {
  for_each_flat(
      a.count, a.packed, static_cast<T*>(a.out),
      [](float y, float dy) { return y > 0 ? dy : 0.0F; }, static_cast<const T*>(a.x),
      static_cast<const T*>(a.dy));
}

HEADWAY_KERNEL_PER_FORMAT(relu_forward, 256, ReluParameters, forward_body)
HEADWAY_KERNEL_PER_FORMAT(relu_backward, 256, ReluParameters, backward_body)

}  // namespace headway::kernels::cuda
