// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "analyzer/evidence/communication.h"
#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/ranks/planted_job.h"

namespace headway::analyzer {
namespace {

using test::analyze_planted;
using test::finding;

/// Latency 40 us, 100 GB/s: 64 KB take 40.64 us, 10 MB take 140 us; the knee is at 4 MB.
std::string run(int small, bool two_sizes = true) {
  std::string text =
      "plants: nothing\nexpect: nothing\njitter 0%\nranks 2\nthread main\n  steps 12\n"
      "    repeat 5\n      launch bwd 1ms blocks=800 bytes=8MB phase=backward\n"
      "    record ready\n    await ready stream=comm\n";
  if (small > 0)
    text += "    repeat " + std::to_string(small) + "\n      collective allreduce 64KB 40640ns\n";
  if (two_sizes) text += "    collective allreduce 10MB 140us\n";
  return text +
         "    record reduced stream=comm\n    await reduced\n"
         "    launch sgd 300us bytes=100MB phase=update\n    sync stream\n";
}

}  // namespace

TEST_CASE("comm-too-small fires on many messages under the knee and prints a bucket size") {
  auto report = analyze_planted(run(60));
  const Finding& found = finding(*report, "comm-too-small");
  REQUIRE(found.status == Status::kFound);
  CHECK(found.claim.find("60 collectives per step") != std::string::npos);
  CHECK(found.claim.find("Best bucket size") != std::string::npos);
  CHECK(found.recoverable_per_step.milliseconds() == doctest::Approx(59 * 0.04).epsilon(0.1));
}

TEST_CASE("comm-too-small is fine with a few small ones, and fires from 5 % of the step on") {
  CHECK(finding(*analyze_planted(run(3)), "comm-too-small").status == Status::kFine);
  CHECK(finding(*analyze_planted(run(7)), "comm-too-small").status == Status::kFine);
  CHECK(finding(*analyze_planted(run(14)), "comm-too-small").status == Status::kFound);
}

TEST_CASE("comm-too-small cannot tell from one size, and is fine alone") {
  CHECK(finding(*analyze_planted(run(60, false)), "comm-too-small").status == Status::kCannotTell);
  test::AnalyzedRun alone(test::PlantedRun{});
  CHECK(alone.finding("comm-too-small").status == Status::kFine);
}

TEST_CASE("latency and rate are found from sizes, and the best bucket weighs both") {
  std::vector<CollectiveFigures> sizes(3);
  std::int64_t bytes = 1'000'000;
  std::vector<const CollectiveFigures*> pointers;
  for (CollectiveFigures& f : sizes) {
    f.bytes = bytes;
    f.count = 10;
    f.transfer = {20'000 + bytes / 50};  // 20 us + 50 GB/s
    bytes *= 8;
    pointers.push_back(&f);
  }
  LatencyAndRate fit;
  REQUIRE(fit_latency_and_rate(pointers, fit));
  CHECK(fit.latency_ns == doctest::Approx(20'000).epsilon(0.01));
  CHECK(fit.bytes_per_ns == doctest::Approx(50).epsilon(0.01));
  CHECK(fit.knee_bytes() == doctest::Approx(1e6).epsilon(0.01));
  // Nothing to hide under: few messages, until fewer gain under 1 %. Slow gradients: smaller ones that leave early.
  CHECK(best_bucket(fit, 200e6, 0) == 1 << 26);
  CHECK(best_bucket(fit, 200e6, 50e6) < 1 << 25);
}

}  // namespace headway::analyzer
