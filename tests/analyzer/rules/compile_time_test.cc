// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>

#include "tests/analyzer/text_run.h"

namespace headway::analyzer {
namespace {

using test::TextRun;

/// A step of 13 ms on the processor.
constexpr const char* kStep =
    "    range forward kind=phase phase=forward\n      host 4ms\n"
    "    range backward kind=phase phase=backward\n      host 8ms\n"
    "    range Optimizer.step#SGD.step kind=phase phase=update\n      host 1ms\n";

TextRun compiling(const std::string& when, const std::string& time, int steps = 40) {
  return TextRun("thread main\n  steps " + std::to_string(steps) + "\n" + kStep + "    on " + when +
                 "\n      range torch.compile\n        host " + time + "\n");
}

}  // namespace

TEST_CASE("compile-time fires on a long first step, counted over a thousand") {
  const TextRun run = compiling("step=0", "2s");
  const Finding& finding = run.finding("compile-time");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.recoverable_per_step.ns == 2'000'000);
  CHECK(finding.sub_cause.empty());
  CHECK(finding.evidence.size() == 1);
}

TEST_CASE("compile-time tells recompilation from the first one") {
  const TextRun run = compiling("step=0,10,20,30", "500ms");
  const Finding& finding = run.finding("compile-time");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.sub_cause == "recompilation");
  CHECK(finding.claim.find("in 3 of them") != std::string::npos);
}

TEST_CASE("compile-time is fine below ten steps, and below a tenth of the recording") {
  CHECK(compiling("step=0", "125ms").finding("compile-time").status == Status::kFine);
  CHECK(compiling("step=0", "140ms").finding("compile-time").status == Status::kFound);
  CHECK(compiling("step=0", "140ms", 200).finding("compile-time").status == Status::kFine);
}

TEST_CASE("compile-time cannot tell without steps") {
  TextRun none("thread main\n  range torch.compile\n    host 5s\n  launch s16816gemm 5ms\n");
  CHECK(none.finding("compile-time").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
