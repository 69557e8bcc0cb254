// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/text_run.h"

namespace headway::analyzer {

using test::AnalyzedRun;
using test::PlantedRun;

TEST_CASE("copy-not-overlapped fires on copies that sit on the compute stream") {
  AnalyzedRun run(PlantedRun{.copy = 300'000});
  const Finding& finding = run.finding("copy-not-overlapped");
  CHECK(finding.status == Status::kFound);
  CHECK(finding.sub_cause == "compute-stream");
  CHECK(finding.recoverable_per_step.ns == 300'000);
  REQUIRE(!finding.evidence.empty());
  CHECK(finding.evidence[0].note == "4.00 MB at 13.3 GB/s from pageable memory");
}

TEST_CASE("copy-not-overlapped says late when the copy has a stream of its own") {
  test::TraceBuilder builder;
  for (int i = 0; i < 12; ++i) {
    std::int64_t t = i * 2'000'000;
    builder.range(1, "step", t, t + 1'900'000, {.kind = trace::RangeKind::kStep, .step = i});
    builder.launch(1, t, t + 5, t + 1'000, t + 600'000,
                   {.name = "copy",
                    .stream = 2,
                    .kind = trace::DeviceOpKind::kCopyHostToDevice,
                    .bytes = 1000});
    builder.launch(1, t + 10, t + 15, t + 600'000, t + 1'800'000,
                   {.name = "kernel", .phase = trace::Phase::kUpdate});
  }
  CHECK(AnalyzedRun(builder).finding("copy-not-overlapped").sub_cause == "late");
}

TEST_CASE("copy-not-overlapped is fine for hidden and for short copies") {
  CHECK(AnalyzedRun(PlantedRun{}).finding("copy-not-overlapped").status == Status::kFine);
  CHECK(AnalyzedRun(PlantedRun{.copy = 40'000}).finding("copy-not-overlapped").status ==
        Status::kFine);
  CHECK(AnalyzedRun(PlantedRun{.copy = 60'000}).finding("copy-not-overlapped").status ==
        Status::kFound);
}

TEST_CASE("copy-not-overlapped cannot tell without steps on a device") {
  test::TraceBuilder builder;
  builder.range(1, "step", 0, 100, {.kind = trace::RangeKind::kStep});
  CHECK(AnalyzedRun(builder).finding("copy-not-overlapped").status == Status::kCannotTell);
}

TEST_CASE("copy-not-overlapped takes many large copies for weights, with steps or without") {
  std::string body = "    repeat 20\n      copy h2d 40MB\n      launch k 300us blocks=864\n";
  test::TextRun steps("thread main\n  steps 12\n" + body);
  const Finding& with_steps = steps.finding("copy-not-overlapped");
  REQUIRE(with_steps.status == Status::kFound);
  CHECK(with_steps.sub_cause == "weights");
  test::TextRun span("thread main\n  steps 4 unmarked\n" + body);
  const Finding& without = span.finding("copy-not-overlapped");
  CHECK(without.sub_cause == "weights");
  CHECK(without.advice.at(0).knob.find("device_map") != std::string::npos);
}

TEST_CASE("copy-not-overlapped takes a batch of a few pieces for a batch") {
  test::TextRun run("thread main\n  steps 12\n    repeat 3\n      copy h2d 20MB\n" +
                    test::healthy_step());
  CHECK(run.finding("copy-not-overlapped").sub_cause == "compute-stream");
}

}  // namespace headway::analyzer
