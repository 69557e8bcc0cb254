// SPDX-License-Identifier: MIT
#include "kernels/adam/launch.h"

#include "kernels/adam/kernel.cuh"

namespace headway::kernels::cuda {

template <class T>
__device__ void adam_body(const TableStep& by, const TableTensor* tensors) {
  if (skips(by)) return;
  const AdamRates rates = adam_rates(by);
  for_each_chunk(
      by, tensors, [&](const TableTensor& t, std::int64_t, std::int64_t first, std::int64_t end) {
        const auto bits = address_bits(t.parameter, t.first, t.second, t.gradient, t.copy);
        for_each_eight(first, end, bits, [&](std::int64_t i, std::int64_t valid, bool packed) {
          float p[kPack], m[kPack], v[kPack], g[kPack];
          load8(t.parameter + i, packed, valid, p);
          load8(t.first + i, packed, valid, m);
          load8(t.second + i, packed, valid, v);
          load8(static_cast<const T*>(t.gradient) + i, packed, valid, g);
#pragma unroll
          for (int k = 0; k < kPack; ++k)
            adam_element(rates, g[k] * by.gradient_scale, p[k], m[k], v[k]);
          store8(t.parameter + i, packed, valid, p);
          store8(t.first + i, packed, valid, m);
          store8(t.second + i, packed, valid, v);
          write_copy(by.copy_format, t.copy, i, valid, packed, p);
        });
      });
}

HEADWAY_TABLE_KERNEL_PER_FORMAT(adam, adam_body)

}  // namespace headway::kernels::cuda
