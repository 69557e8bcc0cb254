// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/kernel_run.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedKernels;
using test::KernelRun;

constexpr const char* kForward =
    "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tensor16x8x16";
constexpr const char* kGradient =
    "sm80_xmma_dgrad_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tensor16x8x16";
constexpr const char* kStrided = "void xmma_cudnn::implicit_gemm::strided_dgrad_indexed::kernel<x>";

Finding find(const KernelRun& run) {
  return AnalyzedKernels(run).finding("slow-strided-dgrad");
}

KernelRun pair(std::int64_t gradient, std::int64_t sequence = 7) {
  return KernelRun{}
      .add({.name = kForward, .ns = 100'000, .phase = trace::Phase::kForward, .sequence = sequence})
      .add({.name = kGradient,
            .ns = gradient,
            .phase = trace::Phase::kBackward,
            .sequence = sequence});
}

}  // namespace

TEST_CASE("slow-strided-dgrad fires on a data gradient far over its forward pass") {
  Finding finding = find(pair(600'000));
  CHECK(finding.status == Status::kFound);
  CHECK(finding.recoverable_per_step.ns == 600'000 - 150'000);
  REQUIRE(!finding.evidence.empty());
  CHECK(finding.evidence[0].note.find("6.0 times") != std::string::npos);
}

TEST_CASE("slow-strided-dgrad is fine below two and a half times the forward pass") {
  CHECK(find(pair(249'000)).status == Status::kFine);
  CHECK(find(pair(251'000)).status == Status::kFound);
}

TEST_CASE("slow-strided-dgrad is fine when the excess is small against the step") {
  KernelRun run = pair(300'000);
  run.add({.name = kForward, .ns = 5'000'000});
  CHECK(find(run).status == Status::kFine);
}

TEST_CASE("slow-strided-dgrad goes by the name where nothing links the passes") {
  Finding finding =
      find(KernelRun{}.add({.name = kForward}).add({.name = kStrided, .ns = 400'000}));
  CHECK(finding.status == Status::kFound);
  CHECK(finding.recoverable_per_step.ns == 200'000);
  CHECK(finding.confidence < 0.5);
}

TEST_CASE("slow-strided-dgrad cannot tell when nothing links the passes and the name is silent") {
  CHECK(find(pair(600'000, -1)).status == Status::kCannotTell);
}

}  // namespace headway::analyzer
