// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/text_run.h"

namespace headway::analyzer {

using test::AnalyzedRun;
using test::PlantedRun;

TEST_CASE("input-bound fires on planted reads and names them") {
  AnalyzedRun run(PlantedRun{.read = 600'000, .decode = 100'000});
  const Finding& finding = run.finding("input-bound");
  CHECK(finding.status == Status::kFound);
  CHECK(finding.sub_cause == "read");
  CHECK(finding.recoverable_per_step.ns == 700'000);
  CHECK(finding.share_of_step == doctest::Approx(700'000.0 / 1'758'000).epsilon(0.001));
  REQUIRE(!finding.evidence.empty());
  CHECK(finding.evidence[0].note.find("'loader 0' reads for batch") != std::string::npos);
  CHECK(finding.evidence[0].event.kind == EventRef::Kind::kRange);
  CHECK(!finding.advice.empty());
}

TEST_CASE("input-bound names decoding when decoding dominates") {
  AnalyzedRun run(PlantedRun{.read = 50'000, .decode = 600'000});
  CHECK(run.finding("input-bound").sub_cause == "decode");
}

TEST_CASE("input-bound is fine just below five percent and fires just above") {
  // The step without waits is 1,050,000 ns; the wait adds itself and 8,000 ns of launch latency.
  AnalyzedRun below(PlantedRun{.read = 54'000});
  CHECK(below.finding("input-bound").status == Status::kFine);
  AnalyzedRun above(PlantedRun{.read = 57'000});
  CHECK(above.finding("input-bound").status == Status::kFound);
}

TEST_CASE("input-bound is fine when the waits are hidden under compute") {
  test::TraceBuilder builder;
  PlantedRun{}.build(builder);
  builder.range(1, "input wait", 1'100'000, 1'300'000,
                {.kind = trace::RangeKind::kInputWait, .batch = 1});
  AnalyzedRun run(builder);
  CHECK(run.finding("input-bound").status == Status::kFine);
}

TEST_CASE("input-bound cannot tell when idle time is unexplained and no range shows a wait") {
  AnalyzedRun run(PlantedRun{.kernel = 5'000, .launch_every = 50'000});
  CHECK(run.finding("input-bound").status == Status::kCannotTell);
}

TEST_CASE("input-bound gives no advice on the reference trainer's switches to other programs") {
  AnalyzedRun run(PlantedRun{.read = 600'000});
  const std::vector<Advice>& advice = run.finding("input-bound").advice;
  CHECK(!advice.empty());
  for (const Advice& a : advice) CHECK(a.framework != "headway-train");
}

TEST_CASE("input-bound shows the run's own settings in its advice") {
  test::TraceBuilder builder;
  PlantedRun{.read = 600'000}.build(builder);
  builder.setting("trainer", "headway-train");
  builder.setting("workers", "1");
  builder.setting("storage", "files");
  AnalyzedRun run(builder);
  bool shown = false;
  for (const Advice& advice : run.finding("input-bound").advice)
    shown = shown || advice.current.find("workers=1") != std::string::npos;
  CHECK(shown);
}

TEST_CASE("input-bound knows PyTorch's wait by its name, and says what it cannot see") {
  test::TextRun run(
      "loader 2 processes hidden\n  decode 60ms\nthread main\n"
      "  steps 12 name=ProfilerStep#% named\n"
      "    input undeclared name=enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__\n" +
      test::healthy_step());
  const Finding& finding = run.finding("input-bound");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.sub_cause == "unseen");
  CHECK(finding.claim.find("is not recorded") != std::string::npos);
}

TEST_CASE("input-bound does not say that a loop makes its batches because another one does") {
  // The evaluation after the last step has a loader without workers.
  test::TextRun run(
      "loader 2 processes hidden\n  decode 60ms\nthread main\n"
      "  steps 12 name=ProfilerStep#% named\n"
      "    input undeclared name=enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__\n" +
      test::healthy_step() +
      "  range enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__\n    host 1ms\n");
  const Finding& finding = run.finding("input-bound");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.sub_cause == "unseen");
}

TEST_CASE("input-bound is fine when ranges and calls explain the idle time") {
  test::TextRun run(
      "thread main\n  steps 12\n    repeat 30\n      range aten::add domain=cpu_op\n"
      "        host 40us\n        launch k 10us blocks=864\n");
  CHECK(run.finding("input-bound").status == Status::kFine);
  CHECK(run.finding("launch-bound").status == Status::kFound);
}

}  // namespace headway::analyzer
