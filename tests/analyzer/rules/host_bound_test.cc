// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "analyzer/evidence/host_work.h"
#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/text_run.h"

namespace headway::analyzer {
namespace {

using test::healthy_step;
using test::TextRun;

/// The device works for 10.15 ms a step, so the host holds it up by `tenths` x 0.1 ms.
TextRun with_python(int tenths) {
  return TextRun("thread main\n  steps 20 name=ProfilerStep#% named\n" + healthy_step() +
                 "    range \"metrics.py(7): score\" domain=python_function\n" + "      host " +
                 std::to_string(10'000 + tenths * 100) + "us\n");
}

}  // namespace

TEST_CASE("host-bound fires on Python between launches, and names it") {
  TextRun run = with_python(40);
  const Finding& finding = run.finding("host-bound");
  REQUIRE(finding.status == Status::kFound);
  CAPTURE(finding.claim);
  CHECK(finding.claim.find("metrics.py(7): score") != std::string::npos);
  CHECK(finding.recoverable_per_step.ns == doctest::Approx(4e6).epsilon(0.05));
  CHECK(run.finding("launch-bound").status == Status::kFine);
}

TEST_CASE("host-bound advises a profiler only where nothing names the work") {
  for (const bool sampled : {true, false}) {
    CAPTURE(sampled);
    test::TraceBuilder builder;
    for (int i = 0; i < 40; ++i) {
      const std::int64_t t = 1'000 + i * 1'000'000;
      builder.range(1, "step", t, t + 1'000'000, {.kind = trace::RangeKind::kStep, .step = i});
      builder.range(1, "conv2d", t, t + 300'000);
      if (sampled) builder.sample(1, "metrics (t.py:6);main (t.py:9)", t + 600'000, 700);
    }
    const Finding finding = test::AnalyzedRun(builder).finding("host-bound");
    REQUIRE(finding.status == Status::kFound);
    REQUIRE(!finding.advice.empty());
    const std::string& knob = finding.advice.front().knob;
    CHECK((knob.find("py-spy") == std::string::npos) == sampled);
    CHECK((knob.find("'metrics (t.py:6)'") != std::string::npos) == sampled);
  }
}

TEST_CASE("host-bound fires from five percent on") {
  CHECK(with_python(3).finding("host-bound").status == Status::kFine);
  CHECK(with_python(8).finding("host-bound").status == Status::kFound);
}

TEST_CASE("host-bound names what fills the time, not what is near it") {
  TextRun run(
      "thread main\n  steps 20 name=ProfilerStep#% named\n" + healthy_step() +
      "    range \"eval.py(1): score\" domain=python_function\n"
      "      range \"<built-in method array>\" domain=python_function\n        host 300us\n"
      "      repeat 32\n        range \"resize\" domain=python_function\n          host 400us\n");
  const Finding& finding = run.finding("host-bound");
  REQUIRE(finding.status == Status::kFound);
  CAPTURE(finding.claim);
  CHECK(finding.claim.find("'resize'") != std::string::npos);
  CHECK(finding.claim.find("array") == std::string::npos);
}

TEST_CASE("host-bound knows the stretch of each step in which the host stops") {
  const TextRun run = with_python(40);
  const HostStop stop = host_stop(run.trace, run.analysis.steps, run.analysis.partitions.front());
  CHECK(stop.typical.ns == doctest::Approx(4e6).epsilon(0.1));
}

TEST_CASE("host-bound leaves what issues work to launch-bound, and hidden work alone") {
  TextRun issue(
      "thread main\n  steps 20 name=ProfilerStep#% named\n    repeat 80\n"
      "      range aten::add domain=cpu_op\n        host 60us\n"
      "        launch k 10us blocks=864\n");
  CHECK(issue.finding("host-bound").status == Status::kFine);
  CHECK(issue.finding("launch-bound").status == Status::kFound);
  TextRun hidden("thread main\n  steps 20 name=ProfilerStep#% named\n" + healthy_step() +
                 "    range \"metrics.py(7): score\" domain=python_function\n      host 2ms\n");
  CHECK(hidden.finding("host-bound").status == Status::kFine);
}

TEST_CASE(
    "without a device, host-bound is a fifth of the step in which a thread does nothing that is "
    "told") {
  auto status = [](std::int64_t computes) {
    test::TraceBuilder builder;
    for (int i = 0; i < 12; ++i) {
      const std::int64_t t = 1'000 + i * 1'000'000;
      builder.range(1, "step", t, t + 1'000'000, {.kind = trace::RangeKind::kStep, .step = i});
      if (computes > 0) builder.range(1, "conv2d", t, t + computes);
    }
    return test::AnalyzedRun(builder).finding("host-bound").status;
  };
  CHECK(status(700'000) == Status::kFound);
  CHECK(status(850'000) == Status::kFine);
  CHECK(status(0) == Status::kCannotTell);
}

TEST_CASE("host-bound cannot tell without steps on a device") {
  test::TraceBuilder builder;
  builder.range(1, "step", 0, 100, {.kind = trace::RangeKind::kStep});
  CHECK(test::AnalyzedRun(builder).finding("host-bound").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
