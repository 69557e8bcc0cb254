// SPDX-License-Identifier: MIT
// Steps in which the recording paused tell what a step takes without, and take part in nothing else.
#include "analyzer/steps/unrecorded_steps.h"

#include <doctest/doctest.h>

#include "tests/support/trace_builder.h"

namespace headway::analyzer {
namespace {

using test::TraceBuilder;

/// 64 declared steps; those of the spans are `without` long, the others 10 ms, each a little longer or shorter.
trace::Trace steps_with(std::string_view spans, std::int64_t without_us, int scatter_us = 20) {
  TraceBuilder builder;
  std::int64_t now = 1'000;
  for (int step = 0; step < 64; ++step) {
    const bool paused = (step >= 16 && step < 24) || (step >= 40 && step < 48);
    const std::int64_t length =
        1'000 * ((paused ? without_us : 10'000) + scatter_us * (step * 7 % 5 - 2));
    trace::RangeInfo info;
    info.kind = trace::RangeKind::kStep;
    info.step = step;
    builder.range(7, "step", now, now + length, info);
    now += length;
  }
  // The program tells the first span when it begins, then both.
  builder.setting("unrecorded_steps", spans.substr(0, spans.find(' ')));
  builder.setting("unrecorded_steps", spans);
  return builder.load();
}

}  // namespace

TEST_CASE("pauses of the recording: the unrecorded step, and no such step among the others") {
  const trace::Trace trace = steps_with("16-23 40-47", 7'000);
  const Steps steps = find_steps(trace);
  REQUIRE(steps.unrecorded_share);
  CHECK(*steps.unrecorded_share == doctest::Approx(0.7).epsilon(0.01));
  CHECK(static_cast<double>(unrecorded_step(steps).ns) == doctest::Approx(7e6).epsilon(0.01));
  CHECK(steps.all.size() == 64 - 2 * 9);
  for (const std::uint32_t i : steps.steady) {
    CHECK(steps.all[i].cycle().length().ns > 9'900'000);
    CHECK(steps.all[i].number != 24);  // the device may still be busy with unrecorded work
  }
}

TEST_CASE("pauses that show no difference beyond how steps scatter give no unrecorded step") {
  CHECK_FALSE(find_steps(steps_with("16-23 40-47", 9'990, 400)).unrecorded_share);
  CHECK_FALSE(find_steps(steps_with("16-23 40-47", 12'000)).unrecorded_share);
  CHECK(find_steps(steps_with("16-23 40-47", 12'000)).all.size() == 64 - 2 * 9);
}

TEST_CASE("a setting that is no list of spans is as none") {
  for (const std::string_view text : {"", "yes", "5", "9-3", "-4-5", "1-99999999999999999999"}) {
    CAPTURE(text);
    const Steps steps = find_steps(steps_with(text, 7'000));
    CHECK(steps.all.size() == 64);
    CHECK_FALSE(steps.unrecorded_share);
  }
}

}  // namespace headway::analyzer
