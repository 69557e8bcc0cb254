// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "analyzer/evidence/product_alignment.h"
#include "tests/analyzer/kernel_run.h"
#include "tests/analyzer/text_run.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedKernels;
using test::KernelRun;

constexpr const char* kNarrow = "cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128_32x3_tn_align1";
constexpr const char* kWhole = "cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128_32x3_tn_align8";

int access(std::string_view name) {
  return access_bytes(name, classify_kernel(name));
}

}  // namespace

TEST_CASE("names of products on tensor cores tell what a thread reads at once") {
  CHECK(access(kNarrow) == 2);
  CHECK(access(kWhole) == 16);
  CHECK(access("cutlass_80_tensorop_f16_s16816gemm_f16_128x128_32x3_nn_align2") == 4);
  CHECK(access("cutlass_80_tensorop_s1688gemm_64x64_32x4_nn_align1") == 4);
  CHECK(access("cutlass_80_tensorop_s1688gemm_64x64_16x6_nt_align4") == 16);
  CHECK(access("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn") == 0);
  CHECK(access("cutlass_80_simt_sgemm_128x64_8x5_nn_align1") == 0);  // general cores
  CHECK(access("fmha_cutlassF_f16_aligned_64x64_rf_sm80") == 0);
}

TEST_CASE("extents are padded to 64 where that is one percent, else to 16 bytes") {
  CHECK(padded_extent(50257, 2) == 50304);
  CHECK(padded_extent(1020, 2) == 1024);
  CHECK(padded_extent(85, 2) == 88);
  CHECK(padded_extent(85, 4) == 88);
  CHECK(padded_extent(10, 4) == 12);
}

TEST_CASE("gemm-efficiency estimates by the width of the accesses") {
  AnalyzedKernels run(KernelRun{}.add({.name = kNarrow, .ns = 305'000}, 8).add({.name = kWhole}));
  const Finding& finding = run.finding("gemm-efficiency");
  CHECK(finding.status == Status::kFound);
  CHECK(finding.recoverable_per_step.ns ==
        doctest::Approx(1'600'000).epsilon(1e-6));  // two thirds of 300 us, 8 times
}

TEST_CASE("gemm-efficiency names the op and its extents") {
  const test::TextRun run(
      "device cuda \"NVIDIA A100-SXM4-80GB\" sms=108 cc=8.0\nthread main\n  steps 20\n"
      "    range head shapes=\"[[4096, 768], [50257, 768]]\"\n      launch \"" +
      std::string(kNarrow) + "\" 3ms blocks=12576\n    sync stream\n");
  const Finding& finding = run.finding("gemm-efficiency");
  CHECK(finding.status == Status::kFound);
  CHECK(finding.claim.find("head, with 50257 (next: 50304)") != std::string::npos);
}

TEST_CASE("gemm-efficiency fires from five percent of the step on") {
  // x of the 1000 us saves (x - 5) x 2/3.
  auto status = [](std::int64_t narrow) {
    return AnalyzedKernels(KernelRun{}
                               .add({.name = kNarrow, .ns = narrow})
                               .add({.name = kWhole, .ns = 1'000'000 - narrow}))
        .finding("gemm-efficiency")
        .status;
  };
  CHECK(status(78'000) == Status::kFine);
  CHECK(status(82'000) == Status::kFound);
}

TEST_CASE("gemm-efficiency cannot tell where no name tells an alignment") {
  AnalyzedKernels run(
      KernelRun{}.add({.name = "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN"}, 5));
  CHECK(run.finding("gemm-efficiency").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
