// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "analyzer/evidence/product_alignment.h"
#include "analyzer/evidence/product_waves.h"
#include "tests/analyzer/kernel_run.h"
#include "tests/analyzer/text_run.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedKernels;
using test::KernelRun;
using test::StepOp;

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

TEST_CASE("blocks fill whole waves, and part of the last one") {
  CHECK(wave_fill(54, 108) == doctest::Approx(0.5));
  CHECK(wave_fill(108, 108) == doctest::Approx(1));
  CHECK(wave_fill(109, 108) == doctest::Approx(109.0 / 216));
  CHECK(wave_fill(109, 108, 0) == doctest::Approx(1));
  CHECK(wave_fill(54, 108, 0) == doctest::Approx(0.5));  // nobody else is there
  CHECK(wave_fill(0, 108) == 1);
}

TEST_CASE("names of products tell their tiles") {
  CHECK(tile_elements("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_32x5_tn") == 128 * 64);
  CHECK(tile_elements("nvjet_tst_128x256_64x4_2x1_v_bz_TNT") == 128 * 256);
  CHECK(tile_elements("cutlass_80_tensorop_s1688gemm_64x64_16x6_nt_align4") == 64 * 64);
  CHECK(tile_elements("void gemmk1_kernel<int, float>(x)") == 0);
}

TEST_CASE("sums are split as long as parts are long and partial results are few") {
  ProductGrid grid;
  grid.blocks = 16;
  grid.multiprocessors = 128;
  grid.outputs = 16 * 128 * 128;
  grid.depth = 4096;
  grid.bytes = 1e6;
  grid.arithmetic_ns = 50'000;
  grid.memory_ns = 1'000;
  CHECK(best_split(grid).parts == 8);  // just one wave
  CHECK(best_split(grid).left == doctest::Approx(1.0 / 8));
  grid.depth = 512;
  CHECK(best_split(grid).parts == 4);
  grid.depth = 128;
  CHECK(best_split(grid).parts == 1);
  grid.depth = 4096;
  grid.blocks = 128;
  CHECK(best_split(grid).parts == 1);  // nothing is idle
  // Moving partial results takes longer than the product.
  grid.blocks = 64;
  grid.memory_ns = 49'000;
  CHECK(best_split(grid).parts == 1);
  grid.depth = 0;  // not known
  CHECK(best_split(grid).parts == 1);
}

TEST_CASE("gemm-efficiency names products with too few blocks") {
  // 8 tiles of 128 x 128 on 108 multiprocessors, each a sum of 8192 terms.
  const StepOp few{.name = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
                   .ns = 203'000,
                   .bytes = 4'000'000,
                   .flops = std::int64_t{2} * 8 * 128 * 128 * 8192,
                   .blocks = 8};
  const AnalyzedKernels run(KernelRun{}.add(few, 5).add({.name = kWhole, .ns = 500'000}));
  const Finding& finding = run.finding("gemm-efficiency");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.sub_cause == "split-k");
  CHECK(finding.claim.find("8 blocks on 108 multiprocessors") != std::string::npos);
  // Eight times as many blocks: an eighth of 200 us is left, five times.
  CHECK(finding.recoverable_per_step.ns == doctest::Approx(5 * 200'000 * 7 / 8).epsilon(0.1));
  StepOp shallow = few;
  shallow.flops = std::int64_t{2} * 8 * 128 * 128 * 128;
  const AnalyzedKernels none(KernelRun{}.add(shallow, 5).add({.name = kWhole, .ns = 500'000}));
  CHECK(none.finding("gemm-efficiency").status == Status::kFine);
  StepOp unknown = few;
  unknown.flops = 0;
  const AnalyzedKernels untold(KernelRun{}.add(unknown, 5));
  CHECK(untold.finding("gemm-efficiency").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
