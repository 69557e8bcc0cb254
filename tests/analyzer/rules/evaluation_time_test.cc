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

/// Every tenth step is followed by `time` of it, inside the step's range.
TextRun run_with(const std::string& range, const std::string& time) {
  return TextRun(std::string("thread main\n  steps 52\n") + kStep +
                 "    on every=10 offset=5\n      range " + range + "\n        host " + time +
                 "\n");
}

}  // namespace

TEST_CASE("evaluation-time fires with its share of the step cost, and says how often") {
  const TextRun run = run_with("evaluate", "26ms");
  const Finding& finding = run.finding("evaluation-time");
  REQUIRE(finding.status == Status::kFound);
  // Five in fifty steps: 2.6 ms of 15.6.
  CHECK(finding.recoverable_per_step.ns == doctest::Approx(2'600'000).epsilon(0.001));
  CHECK(finding.share_of_step == doctest::Approx(2.6 / 15.6).epsilon(0.01));
  CHECK(finding.claim.find("5 times in 50 steps") != std::string::npos);
  CHECK(finding.claim.find("every 10 steps") != std::string::npos);
  CHECK(finding.evidence.size() == 5);
  CHECK(!finding.advice.empty());
  // One cause, one finding.
  CHECK(run.finding("step-outlier").status == Status::kFine);
}

TEST_CASE("evaluation-time is fine just below five percent and fires just above") {
  CHECK(run_with("evaluate", "6.6ms").finding("evaluation-time").status == Status::kFine);
  CHECK(run_with("evaluate", "7.1ms").finding("evaluation-time").status == Status::kFound);
}

TEST_CASE("evaluation-time says that a program with environments collects experience") {
  TextRun run(std::string("setting environments gymnasium\nthread main\n  steps 52\n") + kStep +
              "    on every=10 offset=5\n      range evaluation\n        host 26ms\n");
  const Finding& finding = run.finding("evaluation-time");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.claim.find("gymnasium") != std::string::npos);
  CHECK(finding.advice.front().knob.find("AsyncVectorEnv") != std::string::npos);
}

TEST_CASE("evaluation-time leaves other causes alone, and work that each step has") {
  CHECK(run_with("save_checkpoint", "26ms").finding("evaluation-time").status == Status::kFine);
  TextRun unnamed(std::string("thread main\n  steps 52\n") + kStep +
                  "    on every=10 offset=5\n      host 26ms\n");
  CHECK(unnamed.finding("evaluation-time").status == Status::kFine);
}

TEST_CASE("evaluation-time cannot tell without steps") {
  TextRun none("thread main\n  range evaluate\n    host 5ms\n  launch s16816gemm 5ms\n");
  CHECK(none.finding("evaluation-time").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
