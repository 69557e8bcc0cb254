// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/kernel_run.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedKernels;
using test::KernelRun;

constexpr const char* kTf32 =
    "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16_stage4_warpsize2x2x1_tensor16x8x8";
constexpr const char* kHalf = "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN";
constexpr const char* kBf16 = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn";

Finding find(KernelRun run) {
  return AnalyzedKernels(run).finding("full-precision");
}

}  // namespace

TEST_CASE("full-precision tells what products in TF32 take, and finds nothing without a replay") {
  const Finding finding = find(KernelRun{}.add({.name = kTf32}, 8));
  CHECK(finding.status == Status::kFine);
  CHECK(finding.claim.find("TF32") != std::string::npos);
}

TEST_CASE("full-precision is fine with products in half precision") {
  const Finding finding = find(KernelRun{}.add({.name = kBf16}, 8).add({.name = kTf32}, 2));
  CHECK(finding.status == Status::kFine);
  CHECK(finding.claim.find("whatif") == std::string::npos);
}

TEST_CASE("full-precision does not count products whose names say no number type") {
  const Finding finding = find(KernelRun{}.add({.name = kHalf}, 8));
  CHECK(finding.status == Status::kFine);
  CHECK(finding.claim.find("whatif") == std::string::npos);
}

}  // namespace headway::analyzer
