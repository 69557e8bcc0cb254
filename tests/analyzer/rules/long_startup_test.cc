// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/text_run.h"

namespace headway::analyzer {

using test::healthy_step;
using test::TextRun;

TEST_CASE("long-startup fires when reading takes most of the time before the first step") {
  TextRun run(
      "thread main start=0ms\n  repeat 10\n    range read kind=read bytes=100MB\n"
      "      host 300ms\n  host 1s\n  steps 12\n" +
      healthy_step());
  const Finding& finding = run.finding("long-startup");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.sub_cause == "read");
  // Counted over a thousand steps: a recording is shorter than the run it stands for.
  CHECK(finding.recoverable_per_step.ns == 3'000'000);
  CHECK(finding.claim.find("3.00 s of the 4.00 s") != std::string::npos);
  CHECK(finding.evidence.size() == 1);
}

TEST_CASE("long-startup sees copying the data set to the device") {
  TextRun run("thread main\n  repeat 20\n    copy h2d 2GB blocking\n  steps 12\n" + healthy_step());
  CHECK(run.finding("long-startup").sub_cause == "copy");
}

TEST_CASE("long-startup is fine when less than half of the startup reads") {
  auto run = [](const char* other) {
    return TextRun(std::string("thread main start=0ms\n  range read kind=read bytes=100MB\n"
                               "    host 1s\n  host ") +
                   other + "\n  steps 12\n" + healthy_step());
  };
  CHECK(run("1.1s").finding("long-startup").status == Status::kFine);
  CHECK(run("0.9s").finding("long-startup").status == Status::kFound);
}

TEST_CASE("long-startup is fine when the first step comes within ten steps' time") {
  TextRun run(
      "thread main start=0ms\n  range read kind=read bytes=1MB\n    host 50ms\n  steps 12\n" +
      healthy_step());
  CHECK(run.finding("long-startup").status == Status::kFine);
}

TEST_CASE("long-startup cannot tell what an unrecorded startup did, nor without steps") {
  TextRun silent("thread main start=0ms\n  host 5s\n  steps 12\n" + healthy_step());
  CHECK(silent.finding("long-startup").status == Status::kCannotTell);
  TextRun no_steps("thread main\n  launch s16816gemm 5ms\n");
  CHECK(no_steps.finding("long-startup").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
