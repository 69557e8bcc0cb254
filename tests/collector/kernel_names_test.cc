// SPDX-License-Identifier: MIT
#include "collector/record/decode/kernel_names.h"

#include <doctest/doctest.h>

#include <string>

namespace headway::record {

TEST_CASE("kernel names: the base name is the function's own") {
  auto base = [](const char* name) { return base_name(name); };
  CHECK(base("plain_kernel") == "plain_kernel");
  CHECK(base("vecAdd(float*, float*)") == "vecAdd");
  CHECK(base("void gemm<128, 4>(float const*, int)") == "gemm");
  CHECK(base("nn::norm(float*, int)") == "norm");
  CHECK(
      base("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
           "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, "
           "3ul>)") == "vectorized_elementwise_kernel");
  CHECK(base("void (anonymous namespace)::softmax_warp_forward<float, 10, false>(float*, int)") ==
        "softmax_warp_forward");
  CHECK(base("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<int>(int)") ==
        "multi_tensor_apply_kernel");
  CHECK(
      base(
          "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, float, false>(int)") ==
      "kernel");
  CHECK(base("void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_f16_64x64_32x6_nn_align8>("
             "cutlass_80_tensorop_s16816gemm_f16_64x64_32x6_nn_align8::Params)") == "Kernel2");
  CHECK(base("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)") ==
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  CHECK(base("") == "");
  for (const char* odd :
       {"<", "(", "::", "a::", "void ", "operator<<(", ">>((", "a<b", "(anonymous namespace)::"})
    CHECK_NOTHROW(base(odd));
}

TEST_CASE("kernel names: only what is mangled is demangled") {
  CHECK(demangle("_Z6vecAddPfS_") == "vecAdd(float*, float*)");
  CHECK(demangle("triton_poi_fused_add_0") == "triton_poi_fused_add_0");
  CHECK(demangle("_Zgarbage") == "_Zgarbage");
}

}  // namespace headway::record
