// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/kernel_run.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedKernels;
using test::KernelRun;

constexpr const char* kGemm = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x3_tn";
constexpr const char* kScale =
    "void at::native::vectorized_elementwise_kernel<4, "
    "at::native::BUnaryFunctor<at::native::binary_internal::MulFunctor<float>>>(int)";
constexpr const char* kSoftmax =
    "void (anonymous namespace)::softmax_warp_forward<float, float>(x)";
constexpr const char* kLoss = "void at::native::(anonymous namespace)::nll_loss_forward_reduce(x)";
constexpr const char* kNorm =
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel(x)";

Finding find(KernelRun run) {
  return AnalyzedKernels(run).finding("unfused-attention");
}

}  // namespace

TEST_CASE("unfused-attention fires on softmax between GEMMs and counts what lies between them") {
  KernelRun run;
  for (int layer = 0; layer < 4; ++layer) {
    run.add({.name = kGemm})
        .add({.name = kScale, .ns = 20'000})
        .add({.name = kSoftmax, .ns = 30'000})
        .add({.name = kGemm})
        .add({.name = kNorm});
  }
  Finding finding = find(run);
  CHECK(finding.status == Status::kFound);
  CHECK(finding.recoverable_per_step.ns == 4 * 50'000);
  CHECK(finding.claim.find("4 places") != std::string::npos);
}

TEST_CASE("unfused-attention is fine with the softmax of a classifier and with fused attention") {
  CHECK(find(KernelRun{}
                 .add({.name = kGemm})
                 .add({.name = kSoftmax})
                 .add({.name = kLoss})
                 .add({.name = kGemm}))
            .status == Status::kFine);
  CHECK(find(KernelRun{}
                 .add({.name = kGemm})
                 .add({.name = "void pytorch_flash::flash_fwd_kernel<x>"})
                 .add({.name = kGemm}))
            .status == Status::kFine);
}

TEST_CASE("unfused-attention does not reach over more than nine kernels or another stream") {
  CHECK(find(KernelRun{}
                 .add({.name = kGemm})
                 .add({.name = kScale}, 9)
                 .add({.name = kSoftmax})
                 .add({.name = kGemm}))
            .status == Status::kFine);
  CHECK(find(KernelRun{}
                 .add({.name = kGemm, .stream = 2})
                 .add({.name = kSoftmax})
                 .add({.name = kGemm, .stream = 2}))
            .status == Status::kFine);
}

TEST_CASE("unfused-attention fires from five percent of the step on") {
  auto run = [](std::int64_t softmax) {
    return KernelRun{}
        .add({.name = kGemm, .ns = 500'000})
        .add({.name = kSoftmax, .ns = softmax})
        .add({.name = kGemm, .ns = 500'000 - softmax});
  };
  CHECK(find(run(49'000)).status == Status::kFine);
  CHECK(find(run(51'000)).status == Status::kFound);
}

TEST_CASE("unfused-attention cannot tell when kernel names say nothing") {
  CHECK(find(KernelRun{}.add({.name = "k1"}, 4)).status == Status::kCannotTell);
}

}  // namespace headway::analyzer
