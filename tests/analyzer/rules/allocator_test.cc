// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/text_run.h"

namespace headway::analyzer {

using test::healthy_step;
using test::TextRun;

TEST_CASE("allocator fires on cudaMalloc before each op and counts the calls") {
  TextRun run(
      "thread main\n  steps 12\n    repeat 10\n      allocate 500us bytes=1MB\n"
      "      launch k 200us blocks=864\n");
  const Finding& finding = run.finding("allocator");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.claim.find("10.0 calls per step") != std::string::npos);
  CHECK(finding.evidence.at(0).note == "cudaMalloc of 1.00 MB");
  CHECK(finding.recoverable_per_step.ns > 2'500'000);
}

TEST_CASE("allocator counts a free that drains the device") {
  TextRun run(
      "thread main\n  steps 12\n    repeat 4\n      launch k 500us blocks=864\n"
      "      free 200us drains\n");
  CHECK(run.finding("allocator").status == Status::kFound);
}

TEST_CASE("allocator is fine while the queue is full") {
  TextRun run("thread main\n  steps 12\n" + healthy_step() + "    allocate 400us bytes=1MB\n");
  const Finding& finding = run.finding("allocator");
  CHECK(finding.status == Status::kFine);
  CHECK(finding.claim.find("1.0 allocations and frees per step") != std::string::npos);
}

TEST_CASE("allocator is fine just below five percent of the step and fires just above") {
  auto run = [](const char* time) {
    return TextRun(std::string("thread main\n  steps 12\n") + healthy_step() +
                   "    sync stream\n    allocate " + time + "\n");
  };
  CHECK(run("500us").finding("allocator").status == Status::kFine);
  CHECK(run("560us").finding("allocator").status == Status::kFound);
}

TEST_CASE("allocator cannot tell without steady work on a device") {
  TextRun run("thread main\n  steps 12\n    host 1ms\n    allocate 1ms\n");
  CHECK(run.finding("allocator").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
