// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/text_run.h"

namespace headway::analyzer {
namespace {

using test::TextRun;

/// `run` launches that run, then a capture of `captured`.
TextRun capture(int run, int captured) {
  return TextRun("thread main\n  steps 1 name=ProfilerStep#% named\n    repeat " +
                 std::to_string(run) + "\n      host 20us\n      launch k 5us blocks=10\n" +
                 "    free 300us drains\n    call hipStreamBeginCapture 5us\n    repeat " +
                 std::to_string(captured) +
                 "\n      host 20us\n      call hipLaunchKernel 5us launches\n"
                 "    call hipStreamEndCapture 5us\n    launch k 5us blocks=10\n");
}

}  // namespace

TEST_CASE("graph-capture leads, and nothing else is found in a capture") {
  TextRun run = capture(2, 300);
  REQUIRE(run.analysis.findings.front().rule == "graph-capture");
  CHECK(run.analysis.findings.front().status == Status::kFound);
  CHECK(std::count_if(run.analysis.findings.begin(), run.analysis.findings.end(),
                      [](const Finding& f) { return f.status == Status::kFound; }) == 1);
  CHECK(std::any_of(run.analysis.doubts.begin(), run.analysis.doubts.end(),
                    [&](const Doubt& d) { return d.text == run.analysis.findings.front().claim; }));
}

TEST_CASE("graph-capture fires from more than half of the launches on") {
  CHECK(capture(10, 12).finding("graph-capture").status == Status::kFound);
  CHECK(capture(10, 10).finding("graph-capture").status == Status::kFine);
}

TEST_CASE("graph-capture is fine where launches lost their ops outside of a capture") {
  TextRun run(
      "thread main\n  steps 3 name=ProfilerStep#% named\n    launch k 500us blocks=864\n"
      "    repeat 20\n      host 20us\n      call cudaLaunchKernel 5us launches\n");
  CHECK(run.finding("graph-capture").status == Status::kFine);
}

TEST_CASE("graph-capture cannot tell without API calls") {
  test::TraceBuilder builder;
  builder.range(1, "step", 0, 100, {.kind = trace::RangeKind::kStep});
  CHECK(test::AnalyzedRun(builder).finding("graph-capture").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
