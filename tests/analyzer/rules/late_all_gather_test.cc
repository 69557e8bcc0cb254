// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/ranks/planted_job.h"

namespace headway::analyzer {
namespace {

using test::analyze_planted;
using test::finding;

/// One layer: its parameters are gathered when the layer before has computed; `scatter`: its gradients go, too.
std::string layer(const std::string& gather, bool scatter, bool late = true) {
  std::string text = late ? "      record before\n      await before stream=comm\n" : "";
  text += "      collective allgather 400MB " + gather +
          " communicator=shard\n"
          "      record weights stream=comm\n      await weights\n"
          "      launch layer 2ms blocks=800 bytes=40MB\n";
  const std::string stream = late ? "comm" : "reduce";
  if (scatter)
    text += "      record gradients\n      await gradients stream=" + stream +
            "\n      collective reducescatter 400MB 100us communicator=shard stream=" + stream +
            "\n";
  return text;
}

std::string run(const std::string& gather, bool scatter = true, bool late = true) {
  return "plants: nothing\nexpect: nothing\njitter 0%\nranks 2\nthread main\n  steps 12\n"
         "    repeat 6\n" +
         layer(gather, false, late) + "    repeat 6\n" + layer(gather, scatter, late) +
         "    record reduced stream=comm\n    await reduced\n"
         "    launch adam 300us bytes=100MB phase=update\n    sync stream\n";
}

}  // namespace

TEST_CASE("late-all-gather fires with what the compute before the all-gathers could hide") {
  auto report = analyze_planted(run("600us"));
  const Finding& found = finding(*report, "late-all-gather");
  REQUIRE(found.status == Status::kFound);
  // Eleven of twelve: the first has the update before it; in the second pass with five reduce-scatters before them.
  CHECK(found.exposed_per_step.milliseconds() == doctest::Approx(7.1).epsilon(0.04));
  CHECK(found.evidence.size() > 3);
}

TEST_CASE("late-all-gather fires from 5 % of the step on") {
  CHECK(finding(*analyze_planted(run("60us")), "late-all-gather").status == Status::kFine);
  CHECK(finding(*analyze_planted(run("200us")), "late-all-gather").status == Status::kFound);
}

TEST_CASE("late-all-gather is fine where all-gathers begin beside compute") {
  // Without a wait for the compute before, and with reduce-scatters on a stream of their own, they go as early as they can.
  CHECK(finding(*analyze_planted(run("600us", true, false)), "late-all-gather").status ==
        Status::kFine);
}

TEST_CASE("all-gathers without a reduce-scatter bring parameters only where ranges say so") {
  CHECK(finding(*analyze_planted(run("600us", false)), "late-all-gather").status == Status::kFine);
  std::string named = run("600us", false);
  for (std::size_t at = 0; (at = named.find("      collective allgather", at)) != std::string::npos;
       at += 60)
    named.replace(at, 6, "      range \"FSDP::all_gather (layers.1)\"\n        ");
  CHECK(finding(*analyze_planted(named), "late-all-gather").status == Status::kFound);
}

TEST_CASE("late-all-gather is fine where ranks share no parameters") {
  CHECK(finding(*analyze_planted(test::kEvenJob), "late-all-gather").status == Status::kFine);
}

}  // namespace headway::analyzer
