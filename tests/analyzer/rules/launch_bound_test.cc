// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/planted_run.h"

namespace headway::analyzer {

using test::AnalyzedRun;
using test::PlantedRun;

TEST_CASE("launch-bound fires when kernels are shorter than the time between launches") {
  AnalyzedRun run(PlantedRun{.kernel = 10'000, .launch_every = 40'000, .update_kernel = 10'000});
  const Finding& finding = run.finding("launch-bound");
  CHECK(finding.status == Status::kFound);
  CHECK(run.analysis.findings[0].rule == "launch-bound");
  CHECK(finding.recoverable_per_step.ns == 11 * 30'000);
  CHECK(finding.claim.find("11 kernels per step") != std::string::npos);
}

TEST_CASE("launch-bound is fine when the host runs ahead") {
  CHECK(AnalyzedRun(PlantedRun{}).finding("launch-bound").status == Status::kFine);
}

TEST_CASE("launch-bound fires only from five percent on") {
  // Each kernel leaves launch_every - kernel idle.
  CHECK(AnalyzedRun(PlantedRun{.kernel = 97'000, .launch_every = 100'000, .update_kernel = 97'000})
            .finding("launch-bound")
            .status == Status::kFine);
  CHECK(AnalyzedRun(PlantedRun{.kernel = 92'000, .launch_every = 100'000, .update_kernel = 92'000})
            .finding("launch-bound")
            .status == Status::kFound);
}

TEST_CASE("launch-bound does not take the blame for waits on input or on the device") {
  CHECK(AnalyzedRun(PlantedRun{.read = 900'000}).finding("launch-bound").status == Status::kFine);
  CHECK(AnalyzedRun(PlantedRun{.sync_every_kernel = true}).finding("launch-bound").status ==
        Status::kFine);
}

TEST_CASE("launch-bound cannot tell without steps on a device") {
  test::TraceBuilder builder;
  builder.range(1, "step", 0, 100, {.kind = trace::RangeKind::kStep});
  CHECK(AnalyzedRun(builder).finding("launch-bound").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
