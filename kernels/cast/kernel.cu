// SPDX-License-Identifier: MIT
#include "kernels/cast/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

template <class From, class To, class F>
__device__ void convert(const CastParameters& a, const F& f) {
  for_each_flat(a.count, a.packed, static_cast<To*>(a.to), f, static_cast<const From*>(a.from));
}
template <class T>
__device__ float rounded(float x) {
  return to_float(from_float<T>(x));
}

struct Same {
  __device__ float operator()(float x) const { return x; }
};

HEADWAY_KERNEL(cast_to_f16, 256, CastParameters) {
  convert<float, __half>(a, Same{});
}
HEADWAY_KERNEL(cast_to_bf16, 256, CastParameters) {
  convert<float, __nv_bfloat16>(a, Same{});
}
HEADWAY_KERNEL(cast_from_f16, 256, CastParameters) {
  convert<__half, float>(a, Same{});
}
HEADWAY_KERNEL(cast_from_bf16, 256, CastParameters) {
  convert<__nv_bfloat16, float>(a, Same{});
}
HEADWAY_KERNEL(round_to_f16, 256, CastParameters) {
  convert<float, float>(a, [](float x) { return rounded<__half>(x); });
}
HEADWAY_KERNEL(round_to_bf16, 256, CastParameters) {
  convert<float, float>(a, [](float x) { return rounded<__nv_bfloat16>(x); });
}
HEADWAY_KERNEL(round_to_tf32, 256, CastParameters) {
  convert<float, float>(a, [](float x) { return round_to_tf32(x); });
}

}  // namespace headway::kernels::cuda
