// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/ranks/planted_job.h"

namespace headway::analyzer {
namespace {

using test::analyze_planted;
using test::finding;
using test::kEvenJob;

/// Every rank has its long batch in another step.
std::string uneven(const std::string& extra) {
  std::string text = kEvenJob;
  for (int r = 0; r < 4; ++r)
    text += "    on rank=" + std::to_string(r) + " every=4 offset=" + std::to_string(r) +
            "\n      launch long " + extra + "\n";
  return text + "    launch base 1ms flops=4G\n";
}

}  // namespace

TEST_CASE("uneven-batches fires when compute follows the work of the batch") {
  auto report = analyze_planted(uneven("4ms flops=16G"));
  const Finding& found = finding(*report, "uneven-batches");
  REQUIRE(found.status == Status::kFound);
  CHECK(found.recoverable_per_step.milliseconds() == doctest::Approx(3).epsilon(0.1));
  CHECK(found.claim.find("floating-point operations") != std::string::npos);
}

TEST_CASE("uneven-batches is fine when compute differs but work does not") {
  CHECK(finding(*analyze_planted(uneven("4ms")), "uneven-batches").status == Status::kFine);
}

TEST_CASE("uneven-batches fires from 5 % of the step on") {
  CHECK(finding(*analyze_planted(uneven("400us flops=2G")), "uneven-batches").status ==
        Status::kFine);
  CHECK(finding(*analyze_planted(uneven("1500us flops=6G")), "uneven-batches").status ==
        Status::kFound);
}

TEST_CASE("uneven-batches cannot tell without the batches' work, and is fine alone") {
  std::string text = kEvenJob + "    on rank=1 every=2\n      launch long 4ms\n";
  const auto report = analyze_planted(text);
  const Finding& unknown = finding(*report, "uneven-batches");
  CHECK(unknown.status == Status::kCannotTell);
  CHECK(unknown.claim.find("record_shapes") != std::string::npos);
  test::AnalyzedRun run(test::PlantedRun{});
  CHECK(run.finding("uneven-batches").status == Status::kFine);
}

}  // namespace headway::analyzer
