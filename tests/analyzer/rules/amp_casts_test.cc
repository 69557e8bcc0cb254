// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/kernel_run.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedKernels;
using test::KernelRun;

constexpr const char* kCast =
    "void at::native::vectorized_elementwise_kernel<4, at::native::bfloat16_copy_kernel_cuda(x)>";
constexpr const char* kCopy =
    "void at::native::elementwise_kernel<128, 4, "
    "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(x)>>(int)";
constexpr const char* kGemm = "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN";

const Finding find(KernelRun run) {
  return AnalyzedKernels(run).finding("amp-casts");
}

}  // namespace

TEST_CASE("amp-casts fires on cast kernels and counts their time") {
  Finding finding = find(KernelRun{}.add({.name = kGemm}, 8).add({.name = kCast, .ns = 50'000}, 4));
  CHECK(finding.status == Status::kFound);
  CHECK(finding.recoverable_per_step.ns == 200'000);
  CHECK(finding.claim.find("4 cast kernels") != std::string::npos);
  CHECK(finding.evidence.size() == 12);
}

TEST_CASE("amp-casts is fine with copies that keep the type") {
  CHECK(find(KernelRun{}.add({.name = kGemm}, 8).add({.name = kCopy}, 4)).status == Status::kFine);
}

TEST_CASE("amp-casts fires from five percent of the step on") {
  auto run = [](std::int64_t casts) {
    return KernelRun{}
        .add({.name = kCast, .ns = casts})
        .add({.name = kGemm, .ns = 1'000'000 - casts});
  };
  CHECK(find(run(49'000)).status == Status::kFine);
  CHECK(find(run(50'000)).status == Status::kFound);
}

TEST_CASE("amp-casts cannot tell when kernel names say nothing") {
  CHECK(find(KernelRun{}.add({.name = "k1"}, 8)).status == Status::kCannotTell);
}

}  // namespace headway::analyzer
