// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/kernel_run.h"
#include "tests/analyzer/planted_run.h"

namespace headway::analyzer {

using test::AnalyzedRun;
using test::PlantedRun;

TEST_CASE("unfused-optimizer fires on a kernel per parameter") {
  AnalyzedRun run(PlantedRun{.update_kernels = 60, .update_kernel = 10'000, .update_bytes = 4'000});
  const Finding& finding = run.finding("unfused-optimizer");
  CHECK(finding.status == Status::kFound);
  // 60 kernels of 10 µs, less 240 kB at the 2 MB per 100 µs that the forward kernels reach.
  CHECK(finding.recoverable_per_step.ns == 600'000 - 12'000);
  CHECK(finding.claim.find("60 update kernels per step") != std::string::npos);
}

TEST_CASE("unfused-optimizer is fine with few kernels, and when traffic dominates") {
  CHECK(AnalyzedRun(PlantedRun{}).finding("unfused-optimizer").status == Status::kFine);
  CHECK(AnalyzedRun(
            PlantedRun{.update_kernels = 60, .update_kernel = 50'000, .update_bytes = 1'000'000})
            .finding("unfused-optimizer")
            .status == Status::kFine);
}

TEST_CASE("unfused-optimizer needs sixteen kernels") {
  CHECK(AnalyzedRun(PlantedRun{.update_kernels = 15, .update_kernel = 30'000, .update_bytes = 400})
            .finding("unfused-optimizer")
            .status == Status::kFine);
  CHECK(AnalyzedRun(PlantedRun{.update_kernels = 16, .update_kernel = 30'000, .update_bytes = 400})
            .finding("unfused-optimizer")
            .status == Status::kFound);
}

TEST_CASE("unfused-optimizer cannot tell when nothing says where the update is") {
  CHECK(AnalyzedRun(PlantedRun{.update_kernels = 0}).finding("unfused-optimizer").status ==
        Status::kCannotTell);
}

namespace {

using test::AnalyzedKernels;
using test::KernelRun;

constexpr const char* kGemm = "volta_sgemm_128x128_tn";
constexpr const char* kForeach =
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
    "namespace)::TensorListMetadata<2>, at::native::(anonymous "
    "namespace)::BinaryOpListAlphaFunctor<float, 2, 2, 0>>(x)";

}  // namespace

TEST_CASE("unfused-optimizer takes the fixed cost of kernels for it where bytes are not known") {
  AnalyzedKernels run(KernelRun{}
                          .add({.name = kGemm, .ns = 500'000})
                          .add({.name = "k", .ns = 3'000, .phase = trace::Phase::kUpdate}, 100));
  const Finding& finding = run.finding("unfused-optimizer");
  CHECK(finding.status == Status::kFound);
  CHECK(finding.recoverable_per_step.ns == 200'000);
}

TEST_CASE("unfused-optimizer knows multi-tensor kernels by name, without a phase") {
  AnalyzedKernels run(KernelRun{}.add({.name = kGemm}).add({.name = kForeach, .ns = 40'000}, 9));
  const Finding& finding = run.finding("unfused-optimizer");
  CHECK(finding.status == Status::kFine);
  CHECK(finding.claim.find("9 of them multi-tensor") != std::string::npos);
}

}  // namespace headway::analyzer
