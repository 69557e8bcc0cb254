// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/kernel_run.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedKernels;
using test::KernelRun;

constexpr const char* kConvolution =
    "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize64x64x64_tensor16x8x16";
constexpr const char* kToNhwc = "void cudnn::ops::nchwToNhwcKernel<__half, __half, float>(x)";
constexpr const char* kStridedCopy =
    "void at::native::elementwise_kernel<128, 4, "
    "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(x)>>(int)";
constexpr const char* kGemm = "ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_stages_64x5_nn";

Finding find(KernelRun run) {
  return AnalyzedKernels(run).finding("layout-transposes");
}

}  // namespace

TEST_CASE("layout-transposes fires on conversions to channels last before convolutions") {
  Finding finding = find(KernelRun{}
                             .add({.name = kToNhwc, .ns = 30'000})
                             .add({.name = kConvolution})
                             .add({.name = kToNhwc, .ns = 30'000})
                             .add({.name = kConvolution}));
  CHECK(finding.status == Status::kFound);
  CHECK(finding.recoverable_per_step.ns == 60'000);
  CHECK(finding.advice.front().knob.find("channels_last") != std::string::npos);
}

TEST_CASE("layout-transposes counts a strided copy beside a convolution, and none elsewhere") {
  Finding beside =
      find(KernelRun{}.add({.name = kStridedCopy, .ns = 30'000}).add({.name = kConvolution}, 2));
  CHECK(beside.status == Status::kFound);
  CHECK(beside.recoverable_per_step.ns == 30'000);
  CHECK(find(KernelRun{}
                 .add({.name = kConvolution})
                 .add({.name = kGemm})
                 .add({.name = kStridedCopy, .ns = 30'000})
                 .add({.name = kGemm}))
            .status == Status::kFine);
}

TEST_CASE("layout-transposes is fine without convolutions") {
  CHECK(find(KernelRun{}.add({.name = kToNhwc}).add({.name = kGemm}, 3)).status == Status::kFine);
}

TEST_CASE("layout-transposes fires from five percent of the step on") {
  auto run = [](std::int64_t transforms) {
    return KernelRun{}
        .add({.name = kToNhwc, .ns = transforms})
        .add({.name = kConvolution, .ns = 1'000'000 - transforms});
  };
  CHECK(find(run(49'000)).status == Status::kFine);
  CHECK(find(run(51'000)).status == Status::kFound);
}

TEST_CASE("layout-transposes cannot tell when kernel names say nothing") {
  CHECK(find(KernelRun{}.add({.name = "k1"}, 4)).status == Status::kCannotTell);
}

}  // namespace headway::analyzer
