// SPDX-License-Identifier: MIT
#include "gui/models/text/short_names.h"

#include <doctest/doctest.h>

#include <string>

namespace headway::gui {

TEST_CASE("kernels of libraries and frameworks go by what they do") {
  CHECK(short_name("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x128_32x3_tn_align1>"
                   "(cutlass_80_tensorop_s1688gemm_64x128_32x3_tn_align1::Params)") ==
        "cutlass::gemm");
  CHECK(short_name("void at::native::vectorized_elementwise_kernel<4, "
                   "at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int, "
                   "at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)") ==
        "add elementwise");
  CHECK(short_name("void at::native::elementwise_kernel<128, 2, "
                   "at::native::gpu_kernel_impl<at::native::BinaryFunctor<float, float, float, "
                   "at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&)>"
                   "(int, T3)") == "Mul elementwise");
  CHECK(short_name("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
                   "at::native::MeanOps<float, float>, unsigned int, float, 4> >(T3)") ==
        "Mean reduce");
  CHECK(short_name("void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, "
                   "float>(int, int volatile*)") == "Adam multi-tensor");
  CHECK(short_name("void cub::DeviceScanKernel<cub::AgentScanPolicy<128, 15, int> >(int*)") ==
        "cub::DeviceScanKernel");
  CHECK(short_name("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)") ==
        "ncclDevKernel_SendRecv");
  CHECK(short_name("void at::native::(anonymous namespace)::softmax_warp_forward<float>(float*)") ==
        "softmax_warp_forward");
}

TEST_CASE("a returned type with templates is no name") {
  CHECK(short_name("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, "
                   "float>(cublasGemvParams<float>)") == "gemvx::kernel");
}

TEST_CASE("what is no signature stays as it is") {
  for (const char* name : {"ampere_sgemm_128x64_nn", "Memcpy HtoD (Pageable -> Device)",
                           "aten::linear", "c10d::allreduce_ (waited for)", "layer1/conv2", "",
                           "void ", "a<b", "step 7 (warm-up)", "void <", "f<<<>>(", "::)"})
    CHECK(short_name(name) == name);
}

}  // namespace headway::gui
