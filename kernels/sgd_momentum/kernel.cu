// SPDX-License-Identifier: MIT
#include "kernels/sgd_momentum/launch.h"

#include "kernels/cuda/tensor_table.cuh"

namespace headway::kernels::cuda {

template <class T>
__device__ void sgd_body(const TableStep& by, const TableTensor* tensors) {
  if (skips(by)) return;
  for_each_chunk(
      by, tensors, [&](const TableTensor& t, std::int64_t, std::int64_t first, std::int64_t end) {
        const auto bits = address_bits(t.parameter, t.first, t.gradient, t.copy);
        for_each_eight(first, end, bits, [&](std::int64_t i, std::int64_t valid, bool packed) {
          float p[kPack], v[kPack], g[kPack];
          load8(t.parameter + i, packed, valid, p);
          load8(t.first + i, packed, valid, v);
          load8(static_cast<const T*>(t.gradient) + i, packed, valid, g);
#pragma unroll
          for (int k = 0; k < kPack; ++k)
            sgd_element(by.rate, by.momentum, by.decay, g[k] * by.gradient_scale, p[k], v[k]);
          store8(t.parameter + i, packed, valid, p);
          store8(t.first + i, packed, valid, v);
          write_copy(by.copy_format, t.copy, i, valid, packed, p);
        });
      });
}

HEADWAY_TABLE_KERNEL_PER_FORMAT(sgd_momentum, sgd_body)

}  // namespace headway::kernels::cuda
