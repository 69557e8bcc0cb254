// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>

#include "tests/analyzer/text_run.h"

namespace headway::analyzer {
namespace {

/// 40 steps of 0.1 s; memory is `first` MB in the first half second and `by` MB more in each later one.
std::string run_of(int first, int by, const std::string& left = "20GB") {
  std::string text;
  for (int part = 0; part < 8; ++part)
    text += "counter process.rss " + std::to_string(first + by * part) +
            "MB unit=bytes from=" + std::to_string(500 * part) +
            "ms to=" + std::to_string(500 * part + 499) + "ms\n";
  if (!left.empty()) text += "counter machine.memory_available " + left + " unit=bytes\n";
  return text + "thread main\n  steps 40\n    launch s16816gemm 100ms\n    sync stream\n";
}

}  // namespace

TEST_CASE("memory-growth names what a step keeps, and how many steps what is left lasts for") {
  test::TextRun run(run_of(1000, 50));
  const Finding& finding = run.finding("memory-growth");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.recoverable_per_step.ns == 0);
  CHECK(finding.claim.find("training process") != std::string::npos);
  CHECK(finding.claim.find("20.0 GB") != std::string::npos);
  CHECK(finding.evidence.size() == 3);
}

TEST_CASE("memory-growth asks for growth that matters in a long run") {
  CHECK(test::TextRun(run_of(1000, 4, "20GB")).finding("memory-growth").status == Status::kFound);
  CHECK(test::TextRun(run_of(1000, 4, "200GB")).finding("memory-growth").status == Status::kFine);
  CHECK(test::TextRun(run_of(1000, 4, "")).finding("memory-growth").status == Status::kFine);
  CHECK(test::TextRun(run_of(1000, 20, "")).finding("memory-growth").status == Status::kFound);
  CHECK(test::TextRun(run_of(2000, -50)).finding("memory-growth").status == Status::kFine);
}

TEST_CASE("memory-growth cannot tell without samples or with few steps") {
  test::TextRun silent("thread main\n  steps 40\n    launch s16816gemm 100ms\n    sync stream\n");
  CHECK(silent.finding("memory-growth").status == Status::kCannotTell);
  test::TextRun few(
      "counter process.rss 1000MB unit=bytes\nthread main\n  steps 6\n    launch s16816gemm 100ms\n"
      "    sync stream\n");
  CHECK(few.finding("memory-growth").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
