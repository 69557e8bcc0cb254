// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/ranks/planted_job.h"

namespace headway::analyzer {
namespace {

using test::analyze_planted;
using test::finding;

std::string run(const std::string& ranks, const std::string& collective) {
  return "plants: nothing\nexpect: nothing\njitter 0%\n" + ranks +
         "thread main\n"
         "  steps 12\n"
         "    repeat 10\n"
         "      launch work 1ms blocks=800 bytes=8MB phase=backward\n"
         "    record gradients\n"
         "    await gradients stream=comm\n"
         "    " +
         collective +
         "\n"
         "    record reduced stream=comm\n"
         "    await reduced\n"
         "    launch sgd 300us bytes=100MB phase=update\n"
         "    sync stream\n";
}

}  // namespace

TEST_CASE("comm-exposed fires on communication after compute, and names its kind") {
  auto report = analyze_planted(run("ranks 2\n", "collective allreduce 500MB 5ms communicator=dp"));
  const Finding& found = finding(*report, "comm-exposed");
  REQUIRE(found.status == Status::kFound);
  CHECK(found.sub_cause == "allreduce");
  CHECK(found.recoverable_per_step.milliseconds() == doctest::Approx(5).epsilon(0.05));
  REQUIRE(!found.evidence.empty());
  CHECK(found.evidence[0].note == "allreduce of 500 MB");
  CHECK(found.claim.find("all ranks") == std::string::npos);
}

TEST_CASE("comm-exposed of one rank alone says that waiting is part of it") {
  auto report = analyze_planted(
      run("ranks 1\nworld 8\n", "collective allreduce 500MB 5ms communicator=dp ranks=8"));
  const Finding& found = finding(*report, "comm-exposed");
  REQUIRE(found.status == Status::kFound);
  CHECK(found.claim.find("all ranks") != std::string::npos);
}

TEST_CASE("comm-exposed leaves waiting for a late rank to straggler") {
  auto report = analyze_planted(run("ranks 2\n",
                                    "on rank=1\n      launch late 5ms\n"
                                    "    record late\n    await late stream=comm\n"
                                    "    collective allreduce 50MB 300us communicator=dp"));
  CHECK(finding(*report, "comm-exposed").status == Status::kFine);
}

TEST_CASE("comm-exposed fires from 5 % of the step on") {
  CHECK(
      finding(*analyze_planted(run("ranks 2\n", "collective allreduce 50MB 450us")), "comm-exposed")
          .status == Status::kFine);
  CHECK(
      finding(*analyze_planted(run("ranks 2\n", "collective allreduce 50MB 700us")), "comm-exposed")
          .status == Status::kFound);
}

TEST_CASE("comm-exposed cannot tell when a rank of many recorded no communication") {
  auto report = analyze_planted(run("ranks 1\nworld 8\n", "host 1us"));
  CHECK(finding(*report, "comm-exposed").status == Status::kCannotTell);
  test::AnalyzedRun alone(test::PlantedRun{});
  CHECK(alone.finding("comm-exposed").status == Status::kFine);
}

}  // namespace headway::analyzer
