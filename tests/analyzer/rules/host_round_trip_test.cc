// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/kernel_run.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedKernels;
using test::KernelRun;
using trace::DeviceOpKind;

Finding find(const KernelRun& run) {
  return AnalyzedKernels(run).finding("host-round-trip");
}

/// A millisecond of kernels, a copy to the host, host work, a copy back.
KernelRun trip(std::int64_t idle, std::int64_t bytes = 4'000, bool late = true) {
  return KernelRun{}
      .add({.name = "k", .ns = 250'000}, 2)
      .add({.name = "", .ns = 10'000, .kind = DeviceOpKind::kCopyDeviceToHost, .bytes = bytes})
      .add({.name = "",
            .ns = 10'000,
            .kind = DeviceOpKind::kCopyHostToDevice,
            .bytes = 1'000,
            .idle = idle,
            .issued_late = late})
      .add({.name = "k", .ns = 500'000});
}

}  // namespace

TEST_CASE("host-round-trip fires on a copy back right after a copy to the host") {
  Finding finding = find(trip(200'000));
  CHECK(finding.status == Status::kFound);
  CHECK(finding.recoverable_per_step.ns == 220'000);
  REQUIRE(!finding.evidence.empty());
  CHECK(finding.evidence[0].where.length().ns == 220'000);
}

TEST_CASE(
    "host-round-trip leaves scalars out, and copies that were issued before the first ended") {
  CHECK(find(trip(200'000, 4)).status == Status::kFine);
  CHECK(find(trip(200'000, 4'000, false)).status == Status::kFine);
}

TEST_CASE("host-round-trip is fine when a kernel is launched in between") {
  KernelRun run = trip(200'000);
  run.ops.insert(run.ops.begin() + 3, {.name = "k", .ns = 100'000});
  CHECK(find(run).status == Status::kFine);
}

TEST_CASE("host-round-trip fires from five percent of the step on") {
  CHECK(find(trip(32'000)).status == Status::kFine);
  CHECK(find(trip(34'000)).status == Status::kFound);
}

TEST_CASE("host-round-trip cannot tell without API calls") {
  AnalyzedKernels run(trip(200'000));
  trace::Trace bare = std::move(run.trace);
  bare.calls = {};
  bare.calls_of_thread = {};
  std::fill(bare.device_ops.call.begin(), bare.device_ops.call.end(), trace::CallId::none());
  Analysis analysis = analyze(bare);
  for (const Finding& finding : analysis.findings)
    if (finding.rule == "host-round-trip") CHECK(finding.status == Status::kCannotTell);
}

}  // namespace headway::analyzer
