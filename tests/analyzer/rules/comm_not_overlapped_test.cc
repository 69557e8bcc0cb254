// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/ranks/planted_job.h"

namespace headway::analyzer {
namespace {

using test::analyze_planted;
using test::finding;

/// `early` buckets are exchanged during the backward pass, `late` after it.
std::string run(int early, int late, const std::string& time, const char* phase = "backward") {
  std::string text =
      "plants: nothing\nexpect: nothing\njitter 0%\nranks 2\nthread main\n  steps 12\n";
  for (int i = 0; i < early; ++i) {
    text += std::string("    launch bwd 2ms blocks=800 bytes=8MB phase=") + phase +
            "\n    record ready\n    await ready stream=comm\n    collective allreduce 50MB " +
            time + "\n";
  }
  text += std::string("    repeat 5\n      launch bwd 2ms blocks=800 bytes=8MB phase=") + phase +
          "\n    record ready\n    await ready stream=comm\n";
  for (int i = 0; i < late; ++i) text += "    collective allreduce 50MB " + time + "\n";
  return text +
         "    record reduced stream=comm\n    await reduced\n"
         "    launch sgd 300us bytes=100MB phase=update\n    sync stream\n";
}

}  // namespace

TEST_CASE("comm-not-overlapped fires when all collectives follow the last gradient") {
  auto report = analyze_planted(run(0, 4, "1ms"));
  const Finding& found = finding(*report, "comm-not-overlapped");
  REQUIRE(found.status == Status::kFound);
  CHECK(found.recoverable_per_step.milliseconds() == doctest::Approx(4).epsilon(0.05));
}

TEST_CASE("comm-not-overlapped is fine when buckets leave during the backward pass") {
  CHECK(finding(*analyze_planted(run(4, 1, "1ms")), "comm-not-overlapped").status == Status::kFine);
}

TEST_CASE("comm-not-overlapped fires from 9 of 10 late collectives on") {
  CHECK(finding(*analyze_planted(run(2, 8, "1ms")), "comm-not-overlapped").status == Status::kFine);
  CHECK(finding(*analyze_planted(run(1, 9, "1ms")), "comm-not-overlapped").status ==
        Status::kFound);
}

TEST_CASE("comm-not-overlapped cannot tell when no kernel is known to be backward") {
  CHECK(finding(*analyze_planted(run(0, 4, "1ms", "none")), "comm-not-overlapped").status ==
        Status::kCannotTell);
}

}  // namespace headway::analyzer
