// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/kernel_run.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedKernels;
using test::KernelRun;

Finding find(const KernelRun& run) {
  return AnalyzedKernels(run).finding("low-occupancy");
}

}  // namespace

TEST_CASE("low-occupancy fires on a long kernel with a quarter of the blocks that would fit") {
  Finding finding = find(KernelRun{}
                             .add({.name = "k", .ns = 400'000, .blocks = 27})
                             .add({.name = "k", .ns = 600'000, .blocks = 1080}));
  CHECK(finding.status == Status::kFound);
  CHECK(finding.recoverable_per_step.ns == 300'000);  // 27 of 108
}

TEST_CASE("low-occupancy is fine with short kernels, full grids and communication") {
  CHECK(find(KernelRun{}.add({.name = "k", .ns = 9'000, .blocks = 1}, 50)).status == Status::kFine);
  CHECK(find(KernelRun{}.add({.name = "k", .blocks = 108}, 5)).status == Status::kFine);
  CHECK(find(KernelRun{}
                 .add({.name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", .blocks = 24})
                 .add({.name = "k", .blocks = 200}, 3))
            .status == Status::kFine);
}

TEST_CASE("low-occupancy leaves out kernels that overlap another") {
  KernelRun run;
  run.add({.name = "k", .ns = 500'000, .blocks = 200, .stream = 2});
  run.add({.name = "k", .ns = 300'000, .blocks = 4, .overlap = 400'000});
  run.add({.name = "k", .ns = 500'000, .blocks = 200, .idle = 100'000});
  CHECK(find(run).status == Status::kFine);
}

TEST_CASE("low-occupancy fires from five percent of the step on") {
  auto run = [](std::int64_t narrow) {
    return KernelRun{}
        .add({.name = "k", .ns = narrow, .blocks = 54})
        .add({.name = "k", .ns = 1'000'000 - narrow, .blocks = 500});
  };
  CHECK(find(run(99'000)).status == Status::kFine);
  CHECK(find(run(101'000)).status == Status::kFound);
}

TEST_CASE("low-occupancy cannot tell without grids, or on a device it does not know") {
  CHECK(find(KernelRun{}.add({.name = "k"}, 5)).status == Status::kCannotTell);
  KernelRun unknown;
  unknown.device = "";
  CHECK(find(unknown.add({.name = "k", .blocks = 2}, 5)).status == Status::kCannotTell);
}

}  // namespace headway::analyzer
