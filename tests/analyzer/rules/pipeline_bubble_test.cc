// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/ranks/planted_job.h"

namespace headway::analyzer {
namespace {

using test::analyze_planted;
using test::finding;

constexpr const char* kHead = "plants: nothing\nexpect: nothing\njitter 0%\nranks 2\n";
constexpr const char* kEnd = "    launch adam 300us bytes=100MB phase=update\n    sync stream\n";

/// Two stages pass `micro_batches` on, all forward passes first; `last`: forward pass of the second one.
std::string stages(int micro_batches, const std::string& last = "1ms",
                   const char* peer = " peer=") {
  auto message = [&](const char* kind, const char* name, int to) {
    return fmt::format("collective {} 8MB 20us communicator={} stream={} ranks=2{}\n", kind, name,
                       name, *peer ? fmt::format("{}{}", peer, to) : std::string());
  };
  std::string text = std::string(kHead) + "thread main\n  steps 10\n    on rank=0\n";
  text += fmt::format(
      "      repeat {}\n        launch fwd 1ms blocks=800\n        record out\n        await out "
      "stream=f\n        ",
      micro_batches);
  text += message("send", "f", 1);
  text += fmt::format("      repeat {}\n        ", micro_batches) + message("recv", "b", 1) +
          "        record in stream=b\n        await in\n        launch bwd 2ms blocks=800\n"
          "    on rank=1\n";
  text +=
      fmt::format("      repeat {}\n        ", micro_batches) + message("recv", "f", 0) +
      fmt::format(
          "        record in stream=f\n        await in\n        launch fwd {} blocks=800\n", last);
  text += fmt::format(
      "      repeat {}\n        launch bwd 2ms blocks=800\n        record out\n        await out "
      "stream=b\n        ",
      micro_batches);
  return text + message("send", "b", 0) + kEnd;
}

}  // namespace

TEST_CASE("pipeline-bubble fires with what the busiest stage waits") {
  auto report = analyze_planted(stages(2));
  const Finding& found = finding(*report, "pipeline-bubble");
  REQUIRE(found.status == Status::kFound);
  // Each is idle for one forward and one backward pass of three, and for messages.
  CHECK(found.exposed_per_step.milliseconds() == doctest::Approx(3).epsilon(0.05));
  CHECK(found.sub_cause == "micro-batches");
}

TEST_CASE("pipeline-bubble is less than 5 % of the step from twenty micro batches on") {
  CHECK(finding(*analyze_planted(stages(30)), "pipeline-bubble").status == Status::kFine);
  CHECK(finding(*analyze_planted(stages(8)), "pipeline-bubble").status == Status::kFound);
}

TEST_CASE("pipeline-bubble says which stage computes more than the others") {
  auto report = analyze_planted(stages(30, "2ms"));
  const Finding& found = finding(*report, "pipeline-bubble");
  REQUIRE(found.status == Status::kFound);
  CHECK(found.sub_cause == "uneven");
  CHECK(found.claim.find("rank 1") != std::string::npos);
}

TEST_CASE("pipeline-bubble cannot tell where messages have no ends") {
  CHECK(finding(*analyze_planted(stages(2, "1ms", "")), "pipeline-bubble").status ==
        Status::kCannotTell);
}

TEST_CASE("pipeline-bubble is fine where ranks only add up gradients") {
  CHECK(finding(*analyze_planted(test::kEvenJob), "pipeline-bubble").status == Status::kFine);
}

TEST_CASE("stages that wait for each other are no stragglers") {
  CHECK(finding(*analyze_planted(stages(30, "2ms")), "straggler").status == Status::kFine);
}

}  // namespace headway::analyzer
