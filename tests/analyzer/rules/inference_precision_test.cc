// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "analyzer/kernels/families.h"
#include "tests/analyzer/kernel_run.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedKernels;
using test::KernelRun;

constexpr const char* kBf16 = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn";

Finding find(KernelRun run) {
  return AnalyzedKernels(run).finding("inference-precision");
}

}  // namespace

TEST_CASE("inference-precision says nothing of programs that may train") {
  const Finding finding = find(KernelRun{}.add({.name = kBf16}, 8));
  CHECK(finding.status == Status::kFine);
}

TEST_CASE("inference-precision leaves training alone") {
  const Finding finding = find(
      KernelRun{}.add({.name = kBf16}, 8).add({.name = kBf16, .phase = trace::Phase::kBackward}));
  CHECK(finding.status == Status::kFine);
}

TEST_CASE("names of the libraries' integer products are read as what they are") {
  for (const char* name :
       {"turing_int8_i8816cudnn_int8_128x128_ldg16_relu_interior_nt_v1",
        "sm80_xmma_fprop_implicit_gemm_i8i8_i8i32_f32_nhwckrsc_nhwc_tilesize128x128x64_stage3_"
        "warpsize2x2x1_g1_tensor16x8x32_execute_kernel__5x_cudnn",
        "sm90_xmma_fprop_implicit_gemm_i8i8_i8i32_f32_nhwckrsc_nhwc_tilesize128x128x128_"
        "warpgroupsize1x1x1_g1_execute_segment_k_off_kernel__5x_cudnn",
        "turing_int8_i8816gemm_int8_128x128_ldg16_tn",
        "ampere_int8_i16832gemm_int8_128x128_ldg16_stages_64x3_tn"}) {
    CAPTURE(std::string(name));
    const KernelTraits traits = classify_kernel(name);
    CHECK(is_matrix_work(traits.family));
    CHECK((traits.family == KernelFamily::kConvolution) ==
          (std::string_view(name).find("cudnn") != std::string_view::npos));
    CHECK(traits.precision == Precision::kInt8);
    CHECK(traits.math_unit == trace::MathUnit::kTensor);
  }
}

}  // namespace headway::analyzer
