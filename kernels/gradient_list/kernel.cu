// SPDX-License-Identifier: MIT
#include "kernels/gradient_list/launch.h"

#include "kernels/cuda/table.cuh"

namespace headway::kernels::cuda {

/// Calls body(values, flat, count) for each chunk of this block, with the values in their format.
/// An array that does not begin at a multiple of 16 bytes is processed element by element, with
/// neighbouring threads at neighbouring elements.
template <class Body>
__device__ __forceinline__ void for_each_gradient(const GradientStep& by,
                                                  const GradientEntry* tensors, const Body& body) {
  for_each_entry_chunk(
      by, tensors, [&](const GradientEntry& t, std::int64_t, std::int64_t of_tensor) {
        const std::int64_t first = of_tensor * kGradientChunk;
        const std::int64_t count =
            t.count - first < kGradientChunk ? t.count - first : kGradientChunk;
        switch (t.format) {
          case NumberFormat::kFloat16:
            return body(static_cast<__half*>(t.values) + first, t.flat + first, count);
          case NumberFormat::kBfloat16:
            return body(static_cast<__nv_bfloat16*>(t.values) + first, t.flat + first, count);
          default:
            return body(static_cast<float*>(t.values) + first, t.flat + first, count);
        }
      });
}

/// out = f(in...) over a chunk, shared by the threads of the block.
template <class Out, class F, class... In>
__device__ __forceinline__ void map_gradient(std::int64_t count, Out* out, const F& f,
                                             const In*... in) {
  share_flat(threadIdx.x, blockDim.x, count, address_bits(out, in...) % 16 == 0, out, f, in...);
}

struct PackBody {
  template <class T>
  __device__ void operator()(T* values, float* flat, std::int64_t count) const {
    map_gradient(
        count, flat, [](float x) { return x; }, values);
  }
};

struct UnpackBody {
  float factor;
  template <class T>
  __device__ void operator()(T* values, float* flat, std::int64_t count) const {
    map_gradient(
        count, values, [by = factor](float x) { return times(x, by); }, flat);
  }
};

struct AddUpBody {
  const GradientStep& by;
  template <class T>
  __device__ void operator()(T* values, float* sums, std::int64_t count) const {
    const float factor = by.factor;
    if (by.first && by.last)
      map_gradient(
          count, values, [=](float x) { return times(plus(x, 0.0F), factor); }, values);
    else if (by.first)
      map_gradient(
          count, sums, [](float x) { return plus(x, 0.0F); }, values);
    else if (by.last)
      map_gradient(
          count, values, [=](float x, float sum) { return times(plus(x, sum), factor); }, values,
          sums);
    else
      map_gradient(
          count, sums, [](float x, float sum) { return plus(x, sum); }, values, sums);
  }
};

template <std::size_t kBytes>
using GradientTable = Table<GradientStep, GradientEntry, kBytes>;

#define HEADWAY_GRADIENT_KERNEL(name, ...)                             \
  HEADWAY_KERNEL(name##_small, 256, GradientTable<kSmallParameters>) { \
    for_each_gradient(a.by, a.tensors, __VA_ARGS__);                   \
  }                                                                    \
  HEADWAY_KERNEL(name##_large, 256, GradientTable<kLargeParameters>) { \
    for_each_gradient(a.by, a.tensors, __VA_ARGS__);                   \
  }

HEADWAY_GRADIENT_KERNEL(pack_gradients, PackBody{})
HEADWAY_GRADIENT_KERNEL(unpack_gradients, UnpackBody{a.by.factor})
HEADWAY_GRADIENT_KERNEL(add_up_gradients, AddUpBody{a.by})

}  // namespace headway::kernels::cuda
