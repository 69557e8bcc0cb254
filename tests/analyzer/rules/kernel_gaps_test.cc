// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/kernel_run.h"
#include "tests/analyzer/planted_run.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedKernels;
using test::KernelRun;

/// Forty kernels that are in the queue before the first one runs, each behind a pause of the device.
Finding of_queue(std::int64_t kernel, std::int64_t pause) {
  return AnalyzedKernels(KernelRun{}.add({.name = "k", .ns = kernel, .idle = pause}, 40))
      .finding("kernel-gaps");
}

}  // namespace

TEST_CASE("kernel-gaps fires on pauses between kernels that are in the queue") {
  const Finding finding = of_queue(9'000, 1'000);
  CHECK(finding.status == Status::kFound);
  CHECK(finding.recoverable_per_step.ns == 40'000);
  CHECK(!finding.evidence.empty());
}

TEST_CASE("kernel-gaps fires from five percent of the step on") {
  CHECK(of_queue(49'000, 2'000).status == Status::kFine);
  CHECK(of_queue(29'000, 2'000).status == Status::kFound);
}

TEST_CASE("kernel-gaps is fine where launches are late or take long to arrive") {
  const KernelRun late =
      KernelRun{}.add({.name = "k", .ns = 9'000, .idle = 1'000, .issued_late = true}, 40);
  CHECK(AnalyzedKernels(late).finding("kernel-gaps").status == Status::kFine);
  CHECK(of_queue(9'000, 15'000).status == Status::kFine);
}

TEST_CASE("kernel-gaps leaves the step to launch-bound where launches are late for longer") {
  auto with_late = [](int times) {
    KernelRun run;
    run.add({.name = "k", .ns = 9'000, .idle = 2'000, .issued_late = true}, times);
    run.add({.name = "k", .ns = 9'000, .idle = 1'000}, 40);
    return AnalyzedKernels(run).finding("kernel-gaps").status;
  };
  CHECK(with_late(10) == Status::kFound);
  CHECK(with_late(30) == Status::kFine);
}

TEST_CASE("kernel-gaps cannot tell without launches") {
  test::TraceBuilder builder;
  builder.range(1, "step", 0, 100, {.kind = trace::RangeKind::kStep});
  CHECK(test::AnalyzedRun(builder).finding("kernel-gaps").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
