// SPDX-License-Identifier: MIT
#include "kernels/trust_ratio/launch.h"

#include "kernels/adam/kernel.cuh"

namespace headway::kernels::cuda {

template <class T, class Values>
__device__ void norm_body(const TableStep& by, const TableTensor* tensors, const Values& values) {
  for_each_chunk(
      by, tensors,
      [&](const TableTensor& t, std::int64_t chunk, std::int64_t first, std::int64_t end) {
        const T* x = static_cast<const T*>(values(t));
        float squares = 0;
        for_each_eight(first, end, address_bits(x),
                       [&](std::int64_t i, std::int64_t valid, bool packed) {
                         float eight[kPack];
                         load8(x + i, packed, valid, eight);
#pragma unroll
                         for (int k = 0; k < kPack; ++k) squares += eight[k] * eight[k];
                       });
        const double all = group_sum<256>(static_cast<double>(squares));
        if (threadIdx.x == 0) by.parts[by.chunk_offset + chunk] = all;
      });
}

template <class T>
__device__ void norm_gradient(const TableStep& by, const TableTensor* tensors) {
  norm_body<T>(by, tensors, [](const TableTensor& t) { return t.gradient; });
}
template <class T>
__device__ void norm_parameter(const TableStep& by, const TableTensor* tensors) {
  norm_body<T>(by, tensors, [](const TableTensor& t) { return t.parameter; });
}
template <class T>
__device__ void norm_direction(const TableStep& by, const TableTensor* tensors) {
  norm_body<T>(by, tensors, [](const TableTensor& t) { return t.direction; });
}

/// One block per tensor sums its chunks: each thread every 256th chunk, then the threads in tree
/// order.
template <class>
__device__ void norm_finish(const TableStep& by, const TableTensor* tensors) {
  for (int i = blockIdx.x; i < by.tensors; i += gridDim.x) {
    const int end = i + 1 < by.tensors ? tensors[i + 1].first_chunk : by.chunks;
    double sum = 0;
    for (int chunk = tensors[i].first_chunk + threadIdx.x; chunk < end; chunk += blockDim.x)
      sum += by.parts[by.chunk_offset + chunk];
    sum = group_sum<256>(sum);
    if (threadIdx.x == 0) by.squares[tensors[i].number] = sum;
  }
}

template <class T>
__device__ void lamb_directions(const TableStep& by, const TableTensor* tensors) {
  if (skips(by)) return;
  const AdamRates rates = adam_rates(by);
  for_each_chunk(
      by, tensors, [&](const TableTensor& t, std::int64_t, std::int64_t first, std::int64_t end) {
        const auto bits = address_bits(t.parameter, t.first, t.second, t.gradient, t.direction);
        for_each_eight(first, end, bits, [&](std::int64_t i, std::int64_t valid, bool packed) {
          float p[kPack], m[kPack], v[kPack], g[kPack];
          load8(t.parameter + i, packed, valid, p);
          load8(t.first + i, packed, valid, m);
          load8(t.second + i, packed, valid, v);
          load8(static_cast<const T*>(t.gradient) + i, packed, valid, g);
#pragma unroll
          for (int k = 0; k < kPack; ++k)
            g[k] = adam_moments(rates, g[k] * by.gradient_scale, m[k], v[k]) + by.decay * p[k];
          store8(t.first + i, packed, valid, m);
          store8(t.second + i, packed, valid, v);
          store8(t.direction + i, packed, valid, g);
        });
      });
}

template <class>
__device__ void lamb_apply(const TableStep& by, const TableTensor* tensors) {
  if (skips(by)) return;
  for_each_chunk(
      by, tensors, [&](const TableTensor& t, std::int64_t, std::int64_t first, std::int64_t end) {
        const float step =
            by.rate * lamb_trust(by.parameter_squares[t.number], by.other_squares[t.number]);
        const auto bits = address_bits(t.parameter, t.direction, t.copy);
        for_each_eight(first, end, bits, [&](std::int64_t i, std::int64_t valid, bool packed) {
          float p[kPack], d[kPack];
          load8(t.parameter + i, packed, valid, p);
          load8(t.direction + i, packed, valid, d);
#pragma unroll
          for (int k = 0; k < kPack; ++k) p[k] -= step * d[k];
          store8(t.parameter + i, packed, valid, p);
          write_copy(by.copy_format, t.copy, i, valid, packed, p);
        });
      });
}

template <class T>
__device__ void lars_apply(const TableStep& by, const TableTensor* tensors) {
  if (skips(by)) return;
  for_each_chunk(
      by, tensors, [&](const TableTensor& t, std::int64_t, std::int64_t first, std::int64_t end) {
        const float step =
            by.rate * lars_trust(by.trust, by.decay, by.gradient_scale,
                                 by.parameter_squares[t.number], by.other_squares[t.number]);
        const auto bits = address_bits(t.parameter, t.first, t.gradient, t.copy);
        for_each_eight(first, end, bits, [&](std::int64_t i, std::int64_t valid, bool packed) {
          float p[kPack], v[kPack], g[kPack];
          load8(t.parameter + i, packed, valid, p);
          load8(t.first + i, packed, valid, v);
          load8(static_cast<const T*>(t.gradient) + i, packed, valid, g);
#pragma unroll
          for (int k = 0; k < kPack; ++k) {
            v[k] = by.momentum * v[k] + step * (g[k] * by.gradient_scale + by.decay * p[k]);
            p[k] -= v[k];
          }
          store8(t.parameter + i, packed, valid, p);
          store8(t.first + i, packed, valid, v);
          write_copy(by.copy_format, t.copy, i, valid, packed, p);
        });
      });
}

HEADWAY_TABLE_KERNEL_PER_FORMAT(norm_gradient, norm_gradient)
HEADWAY_TABLE_KERNEL(norm_parameter_f32, norm_parameter, float)
HEADWAY_TABLE_KERNEL(norm_direction_f32, norm_direction, float)
HEADWAY_TABLE_KERNEL(norm_finish, norm_finish, float)
HEADWAY_TABLE_KERNEL_PER_FORMAT(lamb_directions, lamb_directions)
HEADWAY_TABLE_KERNEL(lamb_apply, lamb_apply, float)
HEADWAY_TABLE_KERNEL_PER_FORMAT(lars_apply, lars_apply)

}  // namespace headway::kernels::cuda
