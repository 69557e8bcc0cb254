// SPDX-License-Identifier: MIT
// Quantises to 8-bit integers and back: one thread per element, with neighbouring threads at
// neighbouring elements. The types of a product's epilogue are looked up for every element,
// uniformly in all threads, because memory limits the kernel, not arithmetic.
#include "kernels/quantise/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

__device__ __forceinline__ std::int8_t to_int8(float x) {
  const float within = fminf(fmaxf(x, -127.0F), 127.0F);  // NaN gives -127
  return static_cast<std::int8_t>(rintf(within));
}

__device__ __forceinline__ float element(Element type, const void* from, std::int64_t i) {
  switch (type) {
    case Element::kInt8:
      return static_cast<float>(static_cast<const std::int8_t*>(from)[i]);
    case Element::kInt32:
      return static_cast<float>(static_cast<const std::int32_t*>(from)[i]);
    case Element::kFloat16:
      return to_float(static_cast<const __half*>(from)[i]);
    case Element::kBfloat16:
      return to_float(static_cast<const __nv_bfloat16*>(from)[i]);
    default:
      return static_cast<const float*>(from)[i];
  }
}

__device__ __forceinline__ void store_element(Element type, void* to, std::int64_t i, float x) {
  if (type == Element::kInt8)
    static_cast<std::int8_t*>(to)[i] = to_int8(x);
  else if (type == Element::kFloat16)
    static_cast<__half*>(to)[i] = from_float<__half>(x);
  else if (type == Element::kBfloat16)
    static_cast<__nv_bfloat16*>(to)[i] = from_float<__nv_bfloat16>(x);
  else
    static_cast<float*>(to)[i] = x;
}

template <class T>
__device__ void quantise_body(const QuantiseParameters& a) {
  const QuantiseShape& s = a.shape;
  const float inverse = 1.0F / s.scale;
  const std::int64_t count = s.rows * s.to_columns;
  for (std::int64_t i = global_thread(); i < count; i += global_threads()) {
    const std::int64_t row = i / s.to_columns;
    const std::int64_t column = i % s.to_columns;
    const auto* from = static_cast<const T*>(a.from);
    a.to[i] = column < s.columns ? to_int8(to_float(from[row * s.columns + column]) * inverse)
                                 : std::int8_t{0};
  }
}

HEADWAY_KERNEL_PER_FORMAT(quantise, 256, QuantiseParameters, quantise_body)

HEADWAY_KERNEL(product_epilogue, 256, EpilogueParameters) {
  const ProductEpilogue& s = a.shape;
  const EpilogueArrays& on = a.arrays;
  const std::int64_t count = s.rows * s.columns;
  for (std::int64_t i = global_thread(); i < count; i += global_threads()) {
    const std::int64_t column = i % s.columns;
    const float factor = on.factors ? on.factors[column] : 1.0F;
    float x = element(on.x_type, on.x, i) * factor + on.bias[column];
    if (on.residual) x += s.residual_factor * element(on.residual_type, on.residual, i);
    if (s.activation == EpilogueActivation::kRelu) x = relu(x);
    if (s.activation == EpilogueActivation::kGelu) x = gelu(x);
    store_element(on.y_type, on.y, i, on.y_type == Element::kInt8 ? x * s.inverse_scale : x);
  }
}

}  // namespace headway::kernels::cuda
