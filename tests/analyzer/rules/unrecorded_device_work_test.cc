// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/text_run.h"

namespace headway::analyzer {
namespace {

using test::healthy_step;
using test::TextRun;

TextRun queued(const std::string& latency) {
  return TextRun("thread main\n  steps 20\n    launch first 20us blocks=864 latency=" + latency +
                 "\n" + healthy_step() + "    sync stream\n");
}

}  // namespace

TEST_CASE("unrecorded-device-work fires on an op that stands in an empty queue") {
  TextRun run = queued("5ms");
  const Finding& finding = run.finding("unrecorded-device-work");
  REQUIRE(finding.status == Status::kFound);
  CHECK(run.analysis.findings.front().rule == "unrecorded-device-work");
  CHECK(finding.recoverable_per_step.ns == doctest::Approx(5e6).epsilon(0.1));
  CHECK(run.finding("launch-bound").status == Status::kFine);
  REQUIRE(!finding.evidence.empty());
  CHECK(finding.evidence.front().event.kind == EventRef::Kind::kCall);
}

TEST_CASE("unrecorded-device-work fires on a wait that outlasts all recorded work") {
  const auto run = [](const std::string& wake) {
    return TextRun(
        "thread main\n  steps 20\n    repeat 4\n      launch k 200us blocks=864\n"
        "      sync stream wake=10us\n" +
        healthy_step() + "    sync stream wake=" + wake + "\n");
  };
  CHECK(run("4ms").finding("unrecorded-device-work").status == Status::kFound);
  CHECK(run("20us").finding("unrecorded-device-work").status == Status::kFine);
}

TEST_CASE("unrecorded-device-work fires from five percent of the step on") {
  // The step is 10.2 ms, and up to 300 us are a launch that is late.
  CHECK(queued("500us").finding("unrecorded-device-work").status == Status::kFine);
  CHECK(queued("1200us").finding("unrecorded-device-work").status == Status::kFound);
}

TEST_CASE("one slow op among few does not make slow launches believable") {
  // 20 launches on an empty queue, one of them late by 40 ms.
  TextRun run(
      "thread main\n  steps 1 name=ProfilerStep#% named\n    launch first 20us blocks=864 "
      "latency=40ms\n    repeat 19\n      sync stream\n      host 30us\n"
      "      launch k 50us blocks=864\n");
  CHECK(run.finding("launch-bound").recoverable_per_step.ns < 3'000'000);
  CHECK(run.finding("unrecorded-device-work").status == Status::kFound);
}

TEST_CASE("unrecorded-device-work cannot tell without steps on a device") {
  test::TraceBuilder builder;
  builder.range(1, "step", 0, 100, {.kind = trace::RangeKind::kStep});
  CHECK(test::AnalyzedRun(builder).finding("unrecorded-device-work").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
