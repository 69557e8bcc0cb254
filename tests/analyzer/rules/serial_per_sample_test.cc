// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/kernel_run.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedKernels;
using test::KernelRun;

constexpr const char* kGemm = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x3_tn";
constexpr const char* kMul =
    "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>>(int)";
constexpr const char* kAdd =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)";
constexpr const char* kTopk = "void at::native::sbtopk::gatherTopK<float, unsigned int, 2>(x)";

Finding find(KernelRun run) {
  return AnalyzedKernels(run).finding("serial-per-sample");
}

KernelRun loop(int times, std::int64_t ns = 5'000, const char* third = kTopk,
               std::int64_t gemm = 1'000'000) {
  KernelRun run;
  run.add({.name = kGemm, .ns = gemm});
  for (int i = 0; i < times; ++i)
    run.add({.name = kMul, .ns = ns}).add({.name = kAdd, .ns = ns}).add({.name = third, .ns = ns});
  return run;
}

}  // namespace

TEST_CASE("serial-per-sample fires on a loop over samples and keeps one repetition") {
  Finding finding = find(loop(16));
  CHECK(finding.status == Status::kFound);
  CHECK(finding.recoverable_per_step.ns == 225'000);  // 16 x 15 us, less one of them
  CHECK(finding.claim.find("3 short kernels") != std::string::npos);
  CHECK(finding.claim.find("16 times") != std::string::npos);
}

TEST_CASE("serial-per-sample is fine with plain arithmetic, as a loop over parameters is") {
  CHECK(find(loop(16, 5'000, kMul)).status == Status::kFine);
}

TEST_CASE("serial-per-sample is fine when matrix work is inside the period") {
  CHECK(find(loop(16, 5'000, kGemm)).status == Status::kFine);
}

TEST_CASE("serial-per-sample needs eight repetitions and five percent of the step") {
  CHECK(find(loop(7, 50'000)).status == Status::kFine);
  CHECK(find(loop(8, 50'000)).status == Status::kFound);
  CHECK(find(loop(16, 1'000)).status == Status::kFine);
}

TEST_CASE("serial-per-sample leaves the update to another rule") {
  KernelRun run = loop(16);
  for (test::StepOp& op : run.ops) op.phase = trace::Phase::kUpdate;
  CHECK(find(run).status == Status::kFine);
}

TEST_CASE("serial-per-sample cannot tell when no kernel ran") {
  CHECK(find(KernelRun{}.add({.name = "", .kind = trace::DeviceOpKind::kCopyHostToDevice}, 4))
            .status == Status::kCannotTell);
}

}  // namespace headway::analyzer
