// SPDX-License-Identifier: MIT
#include "kernels/bias_activation/launch.h"

#include "kernels/column_sum/columns.cuh"

namespace headway::kernels::cuda {

struct Gelu {
  static __device__ float value(float x) { return gelu(x); }
  static __device__ float slope(float x) { return gelu_slope(x); }
};
struct Relu {
  static __device__ float value(float x) { return relu(x); }
  static __device__ float slope(float x) { return x > 0 ? 1.0F : 0.0F; }
};

template <class T, class F>
__device__ void forward_body(const BiasActivationParameters& a) {
  const ColumnPlace place(a.tiles);
  if (place.valid <= 0) return;
  float bias[kPack];
  load8(a.bias + place.column, a.tiles.packed, place.valid, bias);
  for (std::int64_t row = place.row; row < a.tiles.rows; row += place.step) {
    const std::int64_t at = row * a.tiles.columns + place.column;
    float x[kPack];
    load8(static_cast<const T*>(a.x) + at, a.tiles.packed, place.valid, x);
#pragma unroll
    for (int i = 0; i < kPack; ++i) x[i] = F::value(x[i] + bias[i]);
    store8(static_cast<T*>(a.out) + at, a.tiles.packed, place.valid, x);
  }
}

template <class T, class F>
__device__ void backward_body(const BiasActivationParameters& a) {
  const ColumnPlace place(a.tiles);
  float bias[kPack] = {};
  if (place.valid > 0) load8(a.bias + place.column, a.tiles.packed, place.valid, bias);
  float sums[1][kPack] = {};
  for (std::int64_t row = place.row; row < a.tiles.rows; row += place.step) {
    const std::int64_t at = row * a.tiles.columns + place.column;
    float x[kPack];
    float dy[kPack];
    load8(static_cast<const T*>(a.x) + at, a.tiles.packed, place.valid, x);
    load8(static_cast<const T*>(a.dy) + at, a.tiles.packed, place.valid, dy);
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
      dy[i] *= F::slope(x[i] + bias[i]);
      sums[0][i] += dy[i];
    }
    store8(static_cast<T*>(a.out) + at, a.tiles.packed, place.valid, dy);
  }
  write_column_parts<1>(a.tiles, place, sums, a.scratch);
}

template <class T>
__device__ void gelu_forward(const BiasActivationParameters& a) {
  forward_body<T, Gelu>(a);
}
template <class T>
__device__ void gelu_backward(const BiasActivationParameters& a) {
  backward_body<T, Gelu>(a);
}
template <class T>
__device__ void relu_forward(const BiasActivationParameters& a) {
  forward_body<T, Relu>(a);
}
template <class T>
__device__ void relu_backward(const BiasActivationParameters& a) {
  backward_body<T, Relu>(a);
}

HEADWAY_KERNEL_PER_FORMAT(bias_gelu_forward, 256, BiasActivationParameters, gelu_forward)
HEADWAY_KERNEL_PER_FORMAT(bias_gelu_backward, 256, BiasActivationParameters, gelu_backward)
HEADWAY_KERNEL_PER_FORMAT(bias_relu_forward, 256, BiasActivationParameters, relu_forward)
HEADWAY_KERNEL_PER_FORMAT(bias_relu_backward, 256, BiasActivationParameters, relu_backward)

}  // namespace headway::kernels::cuda
