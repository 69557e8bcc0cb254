// SPDX-License-Identifier: MIT
#include "kernels/update_passes/launch.h"

#include "kernels/adam/kernel.cuh"

namespace headway::kernels::cuda {

/// to[i] = f(to[i], from[i]) over every tensor, eight at a time. `copies`: `to` is the parameter,
/// whose copy is also written.
template <class T, class To, class From, class F>
__device__ void for_each_element(const TableStep& by, const TableTensor* tensors, const To& to_of,
                                 const From& from_of, const F& f, bool copies = false) {
  for_each_chunk(by, tensors,
                 [&](const TableTensor& t, std::int64_t, std::int64_t first, std::int64_t end) {
                   float* to = to_of(t);
                   const T* from = static_cast<const T*>(from_of(t));
                   void* copy = copies ? t.copy : nullptr;
                   for_each_eight(first, end, address_bits(to, from, copy),
                                  [&](std::int64_t i, std::int64_t valid, bool packed) {
                                    float a[kPack], b[kPack];
                                    load8(to + i, packed, valid, a);
                                    load8(from + i, packed, valid, b);
#pragma unroll
                                    for (int k = 0; k < kPack; ++k) a[k] = f(a[k], b[k]);
                                    store8(to + i, packed, valid, a);
                                    if (copies)
                                      write_copy(by.copy_format, copy, i, valid, packed, a);
                                  });
                 });
}

struct Parameter {
  __device__ float* operator()(const TableTensor& t) const { return t.parameter; }
};
struct First {
  __device__ float* operator()(const TableTensor& t) const { return t.first; }
};
struct Second {
  __device__ float* operator()(const TableTensor& t) const { return t.second; }
};
struct Direction {
  __device__ float* operator()(const TableTensor& t) const { return t.direction; }
};
struct Gradient {
  __device__ const void* operator()(const TableTensor& t) const { return t.gradient; }
};

/// d = g + decay · p: a pass over three arrays.
template <class T>
__device__ void sgd_decay(const TableStep& by, const TableTensor* tensors) {
  if (skips(by)) return;
  for_each_chunk(by, tensors,
                 [&](const TableTensor& t, std::int64_t, std::int64_t first, std::int64_t end) {
                   const T* gradient = static_cast<const T*>(t.gradient);
                   for_each_eight(first, end, address_bits(t.parameter, gradient, t.direction),
                                  [&](std::int64_t i, std::int64_t valid, bool packed) {
                                    float p[kPack], g[kPack];
                                    load8(t.parameter + i, packed, valid, p);
                                    load8(gradient + i, packed, valid, g);
#pragma unroll
                                    for (int k = 0; k < kPack; ++k)
                                      g[k] = g[k] * by.gradient_scale + by.decay * p[k];
                                    store8(t.direction + i, packed, valid, g);
                                  });
                 });
}
template <class T>
__device__ void sgd_scale(const TableStep& by, const TableTensor* tensors) {
  if (skips(by)) return;
  for_each_element<T>(by, tensors, First{}, First{},
                      [&](float v, float) { return by.momentum * v; });
}
template <class T>
__device__ void sgd_accumulate(const TableStep& by, const TableTensor* tensors) {
  if (skips(by)) return;
  for_each_element<T>(by, tensors, First{}, Direction{}, [](float v, float d) { return v + d; });
}
template <class T>
__device__ void sgd_apply(const TableStep& by, const TableTensor* tensors) {
  if (skips(by)) return;
  for_each_element<T>(
      by, tensors, Parameter{}, First{}, [&](float p, float v) { return p - by.rate * v; }, true);
}

template <class T>
__device__ void adam_mean_scale(const TableStep& by, const TableTensor* tensors) {
  if (skips(by)) return;
  for_each_element<T>(by, tensors, First{}, First{}, [&](float m, float) { return by.beta1 * m; });
}
template <class T>
__device__ void adam_mean_add(const TableStep& by, const TableTensor* tensors) {
  if (skips(by)) return;
  for_each_element<T>(by, tensors, First{}, Gradient{}, [&](float m, float g) {
    return m + (1.0F - by.beta1) * (g * by.gradient_scale);
  });
}
template <class T>
__device__ void adam_square_scale(const TableStep& by, const TableTensor* tensors) {
  if (skips(by)) return;
  for_each_element<T>(by, tensors, Second{}, Second{},
                      [&](float v, float) { return by.beta2 * v; });
}
template <class T>
__device__ void adam_square_add(const TableStep& by, const TableTensor* tensors) {
  if (skips(by)) return;
  for_each_element<T>(by, tensors, Second{}, Gradient{}, [&](float v, float g) {
    g *= by.gradient_scale;
    return v + (1.0F - by.beta2) * (g * g);
  });
}
template <class T>
__device__ void adam_size(const TableStep& by, const TableTensor* tensors) {
  if (skips(by)) return;
  const AdamRates rates = adam_rates(by);
  for_each_element<T>(by, tensors, Direction{}, Second{},
                      [&](float, float v) { return sqrtf(v * rates.correction2) + rates.epsilon; });
}
template <class T>
__device__ void adam_decay(const TableStep& by, const TableTensor* tensors) {
  if (skips(by)) return;
  for_each_element<T>(by, tensors, Parameter{}, Parameter{},
                      [&](float p, float) { return p * (1.0F - by.rate * by.decay); });
}
/// p -= rate · m^ / size: a pass over three arrays.
template <class T>
__device__ void adam_apply(const TableStep& by, const TableTensor* tensors) {
  if (skips(by)) return;
  const AdamRates rates = adam_rates(by);
  for_each_chunk(
      by, tensors, [&](const TableTensor& t, std::int64_t, std::int64_t first, std::int64_t end) {
        const auto bits = address_bits(t.parameter, t.first, t.direction, t.copy);
        for_each_eight(first, end, bits, [&](std::int64_t i, std::int64_t valid, bool packed) {
          float p[kPack], m[kPack], d[kPack];
          load8(t.parameter + i, packed, valid, p);
          load8(t.first + i, packed, valid, m);
          load8(t.direction + i, packed, valid, d);
#pragma unroll
          for (int k = 0; k < kPack; ++k) p[k] -= rates.rate * (m[k] * rates.correction1 / d[k]);
          store8(t.parameter + i, packed, valid, p);
          write_copy(by.copy_format, t.copy, i, valid, packed, p);
        });
      });
}

HEADWAY_TABLE_KERNEL_PER_FORMAT(sgd_decay, sgd_decay)
HEADWAY_TABLE_KERNEL(sgd_scale_f32, sgd_scale, float)
HEADWAY_TABLE_KERNEL(sgd_accumulate_f32, sgd_accumulate, float)
HEADWAY_TABLE_KERNEL(sgd_apply_f32, sgd_apply, float)
HEADWAY_TABLE_KERNEL(adam_mean_scale_f32, adam_mean_scale, float)
HEADWAY_TABLE_KERNEL_PER_FORMAT(adam_mean_add, adam_mean_add)
HEADWAY_TABLE_KERNEL(adam_square_scale_f32, adam_square_scale, float)
HEADWAY_TABLE_KERNEL_PER_FORMAT(adam_square_add, adam_square_add)
HEADWAY_TABLE_KERNEL(adam_size_f32, adam_size, float)
HEADWAY_TABLE_KERNEL(adam_decay_f32, adam_decay, float)
HEADWAY_TABLE_KERNEL(adam_apply_f32, adam_apply, float)

}  // namespace headway::kernels::cuda
