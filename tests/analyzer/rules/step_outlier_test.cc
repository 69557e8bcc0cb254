// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "common/format.h"
#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/text_run.h"

namespace headway::analyzer {

using test::healthy_step;
using test::TextRun;

TEST_CASE("step-outlier fires on checkpoints, names the class that grew and the period") {
  TextRun run("thread main\n  steps 52\n" + healthy_step() +
              "    sync stream\n    on every=10 offset=4\n      host 30ms\n");
  const Finding& finding = run.finding("step-outlier");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.claim.find("one every 10 steps") != std::string::npos);
  CHECK(finding.recoverable_per_step.ns == doctest::Approx(3'000'000).epsilon(0.01));
  CHECK(finding.evidence.size() == 5);
  // One share of one step, in the claim as in the finding.
  CHECK(finding.claim.find("step (" + format_percent(finding.share_of_step) + ")") !=
        std::string::npos);
}

TEST_CASE("step-outlier leaves what the program does between its steps to the rule of that cause") {
  auto run_with = [](const char* name, std::int64_t time) {
    test::TraceBuilder builder;
    std::int64_t t = 0;
    for (int i = 0; i < 82; ++i) {
      builder.range(1, "step", t, t + 600'000, {.kind = trace::RangeKind::kStep, .step = i});
      builder.range(1, "conv2d", t, t + 500'000);
      t += 600'000;
      if (i % 20 != 10) continue;
      if (name) builder.range(1, name, t, t + time);
      t += time;
    }
    return test::AnalyzedRun(builder);
  };
  const test::AnalyzedRun evaluation = run_with("evaluation batch", 9'000'000);
  CHECK(evaluation.finding("step-outlier").status == Status::kFine);
  CHECK(evaluation.finding("evaluation-time").status == Status::kFound);
  const test::AnalyzedRun checkpoint = run_with("save_checkpoint", 9'000'000);
  CHECK(checkpoint.finding("step-outlier").status == Status::kFine);
  CHECK(checkpoint.finding("checkpoint-time").status == Status::kFound);
  const test::AnalyzedRun unnamed = run_with(nullptr, 9'000'000);
  CHECK(unnamed.finding("step-outlier").status == Status::kFine);
  CHECK(unnamed.finding("host-pauses").status == Status::kFound);
  // Below the threshold of that rule it is still an outlier, with the cause's name.
  const test::AnalyzedRun small = run_with("save_checkpoint", 450'000);
  CHECK(small.finding("checkpoint-time").status == Status::kFine);
  REQUIRE(small.finding("step-outlier").status == Status::kFound);
  CHECK(small.finding("step-outlier").sub_cause == "checkpoint");
}

TEST_CASE("step-outlier names input when a batch is late") {
  TextRun run(
      "loader 2\n  on step=20\n    read 200ms bytes=1MB\n  decode 1ms\n"
      "thread main\n  steps 50\n    input\n" +
      healthy_step() + "    sync stream\n");
  CHECK(run.finding("step-outlier").sub_cause == "io_read");
}

TEST_CASE("step-outlier is fine when all steps are alike, or when many are longer") {
  TextRun even("thread main\n  steps 40\n" + healthy_step());
  CHECK(even.finding("step-outlier").status == Status::kFine);
  TextRun second_mode("thread main\n  steps 41\n" + healthy_step() +
                      "    on every=5\n      launch k 4ms blocks=864\n");
  CHECK(second_mode.finding("step-outlier").status == Status::kFine);
}

TEST_CASE("step-outlier is fine just below two percent and fires just above") {
  auto run = [](const char* time) {
    return TextRun(std::string("thread main\n  steps 52\n") + healthy_step() +
                   "    on step=30\n      launch k " + time + " blocks=864\n");
  };
  // A step takes 10.1 ms and 50 are steady: two percent are 10.1 ms in one of them.
  CHECK(run("9.9ms").finding("step-outlier").status == Status::kFine);
  CHECK(run("10.4ms").finding("step-outlier").status == Status::kFound);
}

TEST_CASE("step-outlier cannot tell from few steps or none") {
  TextRun few("thread main\n  steps 8\n" + healthy_step());
  CHECK(few.finding("step-outlier").status == Status::kCannotTell);
  TextRun none("thread main\n  launch s16816gemm 5ms\n");
  CHECK(none.finding("step-outlier").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
