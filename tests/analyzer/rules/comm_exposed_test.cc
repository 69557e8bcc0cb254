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

/// Four blocks forward and back, with a collective after each; and gradients at the end.
std::string blocks(const std::string& forward, const std::string& backward) {
  return "plants: nothing\nexpect: nothing\njitter 0%\nranks 4\nthread main\n  steps 12\n"
         "    range forward phase=forward\n      repeat 4\n"
         "        launch fwd 1ms blocks=800 bytes=40MB\n" +
         forward +
         "      launch head 500us blocks=800 bytes=40MB\n"
         "    range backward phase=backward\n      repeat 4\n"
         "        launch bwd 2ms blocks=800 bytes=80MB\n" +
         backward +
         "      record gradients\n      await gradients stream=comm\n"
         "      collective allreduce 50MB 3ms communicator=dp\n"
         "      record reduced stream=comm\n      await reduced\n"
         "    range update phase=update\n      launch sgd 300us bytes=400MB blocks=800\n"
         "    sync stream\n";
}

std::string exchange(const std::string& collective) {
  return "        record partial\n        await partial stream=comm\n        collective " +
         collective + "\n        record summed stream=comm\n        await summed\n";
}

TEST_CASE("comm-exposed tells activations from gradients by sums in the forward pass") {
  auto kind_of = [](const std::string& forward, const std::string& backward) {
    auto report = analyze_planted(blocks(forward, backward));
    const Finding& found = finding(*report, "comm-exposed");
    REQUIRE(found.status == Status::kFound);
    return found.sub_cause;
  };
  const std::string sum = exchange("allreduce 64MB 1ms communicator=tp");
  CHECK(kind_of(sum, sum) == "activations");
  // Most of the time goes to gradients.
  const std::string short_sum = exchange("allreduce 4MB 100us communicator=tp");
  CHECK(kind_of(short_sum, short_sum) == "allreduce");
  // Sums by parts, and gathers of the same size in between (sequence parallelism).
  const std::string scattered = exchange("reducescatter 64MB 500us communicator=tp");
  const std::string gathered = exchange("allgather 64MB 500us communicator=tp");
  CHECK(kind_of(gathered + scattered, gathered + scattered) == "activations");
  // Gathers alone bring parameters.
  CHECK(kind_of(exchange("allgather 64MB 1ms communicator=dp"), "") == "allgather");
  // What compute runs beside is not waited for: gradients of the step before.
  CHECK(kind_of("        collective allreduce 64MB 900us communicator=dp\n", "") == "allreduce");
}

}  // namespace headway::analyzer
