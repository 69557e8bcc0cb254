// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/text_run.h"

namespace headway::analyzer {

using test::healthy_step;
using test::TextRun;

TEST_CASE("slow-storage fires on large reads at the pace of the disk, and names both rates") {
  TextRun run(
      "counter machine.disk_read 200MB unit=bytes/s\n"
      "loader 1 prefetch=1\n  read 100ms bytes=20MB\n"
      "thread main\n  steps 12\n    input\n" +
      healthy_step());
  const Finding& finding = run.finding("slow-storage");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.claim.find("20.0 MB each at 200 MB/s") != std::string::npos);
  CHECK(finding.confidence == doctest::Approx(0.9));
  CHECK(finding.recoverable_per_step.ns > 80'000'000);
  CHECK(!finding.evidence.empty());
  CHECK(!finding.advice.empty());
}

TEST_CASE("slow-storage leaves small reads to small-files") {
  TextRun run(
      "loader 1 prefetch=1\n  read 100ms bytes=1MB pieces=100\n"
      "thread main\n  steps 12\n    input\n" +
      healthy_step());
  CHECK(run.finding("slow-storage").status == Status::kFine);
  CHECK(run.finding("small-files").status == Status::kFound);
}

TEST_CASE("slow-storage and small-files share the read time between them") {
  // 100 reads of 100 KB in 2 ms each; at the assumed 100 MB/s they would take half of that.
  TextRun run(
      "loader 1 prefetch=1\n  read 200ms bytes=10MB pieces=100\n"
      "thread main\n  steps 12\n    input\n" +
      healthy_step());
  std::int64_t small = run.finding("small-files").recoverable_per_step.ns;
  std::int64_t slow = run.finding("slow-storage").recoverable_per_step.ns;
  CHECK(small == doctest::Approx(static_cast<double>(slow)).epsilon(0.01));
}

TEST_CASE("slow-storage is fine just below five percent of the step and fires just above") {
  auto run = [](const char* read) {
    return TextRun(std::string("loader 1 prefetch=1 handover=0us startup=0us\n  read ") + read +
                   " bytes=20MB\nthread main\n  steps 12\n    input\n" + healthy_step() +
                   "    sync stream\n");
  };
  // A step computes for 10.13 ms; what a read takes beyond that is waited for.
  CHECK(run("10.5ms").finding("slow-storage").status == Status::kFine);
  CHECK(run("11ms").finding("slow-storage").status == Status::kFound);
}

TEST_CASE("slow-storage cannot tell from reads without sizes") {
  TextRun run("loader 1 prefetch=1\n  read 100ms\nthread main\n  steps 12\n    input\n" +
              healthy_step());
  CHECK(run.finding("slow-storage").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
