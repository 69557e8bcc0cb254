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

/// Steps of 13 ms that take `by` more after every fourth one.
TextRun growing(int steps, const std::string& by, const std::string& named = "") {
  std::string text = "thread main\n  steps " + std::to_string(steps) + "\n" + kStep;
  for (int from = 4; from < steps; from += 4) {
    text += "    on from=" + std::to_string(from) + "\n";
    if (!named.empty()) text += "      range " + named + "\n  ";
    text += "      host " + by + "\n";
  }
  return TextRun(text);
}

}  // namespace

TEST_CASE("step-growth names what grows, and by how much") {
  const TextRun run = growing(62, "1ms", "plot_history");
  const Finding& finding = run.finding("step-growth");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.claim.find("'plot_history'") != std::string::npos);
  // From 13 to 28 ms: half of the 15 on average, less what the first stretch has.
  CHECK(finding.recoverable_per_step.ns == doctest::Approx(7'000'000).epsilon(0.1));
  CHECK(finding.evidence.size() == 3);
}

TEST_CASE("step-growth is fine when steps are alike, leap once, or grow by little") {
  CHECK(TextRun(std::string("thread main\n  steps 60\n") + kStep).finding("step-growth").status ==
        Status::kFine);
  CHECK(
      TextRun(std::string("thread main\n  steps 60\n") + kStep + "    on from=30\n      host 5ms\n")
          .finding("step-growth")
          .status == Status::kFine);
  CHECK(growing(62, "60us").finding("step-growth").status == Status::kFine);
}

TEST_CASE("step-growth cannot tell from few steps or none") {
  CHECK(growing(24, "1ms").finding("step-growth").status == Status::kCannotTell);
  TextRun none("thread main\n  launch s16816gemm 5ms\n");
  CHECK(none.finding("step-growth").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
