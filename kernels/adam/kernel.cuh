// SPDX-License-Identifier: MIT
// Device code that Adam and LAMB share.
#pragma once

#include "kernels/cuda/tensor_table.cuh"

namespace headway::kernels::cuda {

/// The step's rates, the same in all threads of the block. One thread computes the corrections in
/// double, because 1 - 0.999^t has few significant digits in float. All threads must call it.
__device__ inline AdamRates adam_rates(const TableStep& by) {
  __shared__ float corrections[2];
  if (threadIdx.x == 0) {
    corrections[0] = by.correction1;
    corrections[1] = by.correction2;
    if (by.state) {
      const double step = static_cast<double>(by.state[3]) + 1;  // OptimizerState::taken
      corrections[0] = static_cast<float>(1 / (1 - pow(static_cast<double>(by.beta1), step)));
      corrections[1] = static_cast<float>(1 / (1 - pow(static_cast<double>(by.beta2), step)));
    }
  }
  __syncthreads();
  return {by.rate, by.beta1, by.beta2, by.epsilon, by.decay, corrections[0], corrections[1]};
}

}  // namespace headway::kernels::cuda
