// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "analyzer/whatif/predict_findings.h"
#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/ranks/planted_job.h"

namespace headway::analyzer {

using test::analyze_planted;
using test::finding;
using test::kEvenJob;

TEST_CASE("straggler names the late rank, what it costs and why it is late") {
  auto report = analyze_planted(kEvenJob + "    on rank=2\n      launch extra 3ms bytes=8MB\n");
  const Finding& found = finding(*report, "straggler");
  REQUIRE(found.status == Status::kFound);
  CHECK(found.sub_cause == "compute");
  CHECK(found.claim.find("Rank 2 delays the other ranks") != std::string::npos);
  CHECK(found.recoverable_per_step.milliseconds() == doctest::Approx(3).epsilon(0.1));
  CHECK(!found.evidence.empty());
}

TEST_CASE("straggler tells a late host from slow compute") {
  auto report = analyze_planted(kEvenJob + "    on rank=1\n      host 4ms\n");
  const Finding& found = finding(*report, "straggler");
  REQUIRE(found.status == Status::kFound);
  CHECK(found.sub_cause == "host");
  CHECK(found.claim.find("Rank 1 delays the other ranks") != std::string::npos);
  CHECK(found.claim.find("its host pauses for 4.0") != std::string::npos);
  CHECK(!found.evidence.empty());
}

TEST_CASE("straggler comes before what explains it, but not before what all ranks do") {
  auto first_of = [](const std::string& host_work) {
    auto report = analyze_planted(kEvenJob + host_work);
    REQUIRE(finding(*report, "straggler").status == Status::kFound);
    predict_findings(report->trace, report->analysis, {}, nullptr);
    return std::string(report->analysis.findings.front().rule);
  };
  CHECK(first_of("    on rank=1\n      host 12ms\n") == "straggler");
  CHECK(first_of("    host 12ms\n    on rank=1\n      host 8ms\n") != "straggler");
}

TEST_CASE("straggler is fine when ranks take turns, and when the wait is short") {
  std::string turns = kEvenJob;
  for (int r = 0; r < 4; ++r)
    turns += "    on rank=" + std::to_string(r) + " every=4 offset=" + std::to_string(r) +
             "\n      launch extra 3ms bytes=8MB\n";
  CHECK(finding(*analyze_planted(turns), "straggler").status == Status::kFine);
  CHECK(finding(*analyze_planted(kEvenJob), "straggler").status == Status::kFine);
}

TEST_CASE("straggler is fine where one event made nearly all the waiting: it may be chance") {
  auto late_in = [](const std::string& steps) {
    return analyze_planted(kEvenJob + "    on rank=1 " + steps + "\n      host 20ms\n");
  };
  const auto once = late_in("every=12 offset=6");
  const Finding& chance = finding(*once, "straggler");
  CHECK(chance.status == Status::kFine);
  CHECK(chance.claim.find("may be chance") != std::string::npos);
  CHECK(finding(*late_in("every=2"), "straggler").status == Status::kFound);
}

TEST_CASE("straggler fires from 5 % of the step on") {
  auto late_by = [](const std::string& time) {
    return analyze_planted(kEvenJob + "    on rank=3\n      launch extra " + time + " bytes=8MB\n");
  };
  CHECK(finding(*late_by("500us"), "straggler").status == Status::kFine);
  CHECK(finding(*late_by("900us"), "straggler").status == Status::kFound);
}

TEST_CASE("straggler claims no more than ranks gain that launch for as long as a step lasts") {
  // Without the delay of its first step the late rank would be as slow: the others are ahead of it by 4 ms all along.
  auto ahead_with = [](const std::string& host) {
    return analyze_planted(
        "plants: nothing\nexpect: nothing\njitter 0%\nranks 4\nthread main\n  steps 30\n"
        "    on rank=1 step=0\n      host 4ms\n    range forward phase=forward\n      repeat 20\n" +
        host +
        "        launch fwd 20us blocks=800 phase=forward\n      record gradients\n"
        "      await gradients stream=comm\n"
        "      collective allreduce 8MB 200us communicator=dp\n"
        "      record reduced stream=comm\n      await reduced\n"
        "    launch sgd 300us phase=update\n");
  };
  const auto launching = ahead_with("        host 300us\n");
  CHECK(ratio(launching->analysis.job->roles[1].caused_wait, launching->analysis.job->step) > 0.3);
  const Finding& bounded = finding(*launching, "straggler");
  CHECK(bounded.status == Status::kFine);
  CHECK(bounded.claim.find("the others launch for as long") != std::string::npos);
}

TEST_CASE("straggler does not take a long pause of the host for its work") {
  // Nothing tells what the others do in these 6 ms of a step: they may wait for the late rank.
  const auto pausing = analyze_planted(kEvenJob + "    host 6ms\n    on rank=1\n      host 8ms\n");
  for (const RankSummary& rank : pausing->analysis.job->ranks)
    CHECK(rank.launching.milliseconds() < 0.2 * pausing->analysis.job->step.milliseconds());
  CHECK(finding(*pausing, "straggler").status == Status::kFound);
}

TEST_CASE("straggler cannot tell from one of several ranks, and says what to give") {
  const std::string step =
      "thread main\n  steps 12\n    launch fwd 1ms blocks=800\n"
      "    collective allreduce 50MB 300us\n    sync stream\n";
  // Without a number of ranks, the exchange shows that there are others.
  for (const char* world : {"world 4\n", ""}) {
    const auto report = analyze_planted("plants: nothing\nexpect: nothing\n" + (world + step));
    const Finding& one = finding(*report, "straggler");
    CHECK(one.status == Status::kCannotTell);
    CHECK(one.claim.find("traces of all ranks") != std::string::npos);
  }
  CHECK(test::AnalyzedRun(test::PlantedRun{}).finding("straggler").status == Status::kFine);
}

}  // namespace headway::analyzer
