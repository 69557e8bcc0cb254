// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/text_run.h"

namespace headway::analyzer {

using test::healthy_step;
using test::TextRun;

namespace {

/// A device of 1000 MHz that computes without a pause.
TextRun clocked(const std::string& counters) {
  return TextRun("device cuda gpu clock=1000MHz\n" + counters + "thread main\n  steps 40\n" +
                 healthy_step());
}

std::string samples(int mhz, int reasons) {
  return "counter gpu.sm_clock " + std::to_string(mhz) +
         "M unit=Hz device=0 every=10ms\ncounter gpu.throttle_reasons " + std::to_string(reasons) +
         " device=0 every=10ms\n";
}

}  // namespace

TEST_CASE("clock-throttled fires when power limits the clock and says what the full one gains") {
  TextRun run = clocked(samples(800, 4));
  const Finding& finding = run.finding("clock-throttled");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.sub_cause == "power");
  CHECK(finding.share_of_step == doctest::Approx(0.2).epsilon(0.02));
  CHECK(finding.claim.find("the power limit") != std::string::npos);
}

TEST_CASE("clock-throttled names temperature and settings") {
  CHECK(clocked(samples(700, 0x40)).finding("clock-throttled").sub_cause == "thermal");
  CHECK(clocked(samples(700, 0x2)).finding("clock-throttled").sub_cause == "application-clock");
}

TEST_CASE("clock-throttled takes idleness for no reason") {
  CHECK(clocked(samples(345, 1)).finding("clock-throttled").status == Status::kFine);
}

TEST_CASE("clock-throttled is fine just below five percent and fires just above") {
  CHECK(clocked(samples(960, 4)).finding("clock-throttled").status == Status::kFine);
  CHECK(clocked(samples(940, 4)).finding("clock-throttled").status == Status::kFound);
}

TEST_CASE("clock-throttled cannot tell without clock or reasons") {
  CHECK(clocked("").finding("clock-throttled").status == Status::kCannotTell);
  CHECK(clocked("counter gpu.sm_clock 500M unit=Hz device=0\n").finding("clock-throttled").status ==
        Status::kCannotTell);
}

}  // namespace headway::analyzer
