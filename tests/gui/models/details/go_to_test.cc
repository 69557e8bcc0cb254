// SPDX-License-Identifier: MIT
#include "gui/models/details/go_to.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "common/error.h"
#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

const TimelineModel& model() {
  return test::training_session()->timeline;
}

std::int64_t at(std::string_view text, std::int64_t here = 0) {
  Destination destination = parse_destination(model(), text, {here});
  CHECK(destination.interval.empty());
  return destination.interval.begin.ns;
}

}  // namespace

TEST_CASE("times are read in any unit and spelling, from the start or from here") {
  CHECK(at("1.25s") == 1'250'000'000);
  CHECK(at("1.25") == 1'250'000'000);
  CHECK(at(" 300 ms ") == 300'000'000);
  CHECK(at("1 500 000us") == 1'500'000'000);
  CHECK(at("20µs") == 20'000);
  CHECK(at("0.01 min") == 600'000'000);
  CHECK(at("1\u2009500.5\u202fMS") == 1'500'500'000);
  CHECK(at("+3ms", 1'000'000'000) == 1'003'000'000);
  CHECK(at("-200us", 1'000'000'000) == 999'800'000);
  CHECK(at("\u2212200us", 1'000'000'000) == 999'800'000);
  CHECK(std::abs(at("50%") - (model().bounds.begin.ns + model().bounds.end.ns) / 2) <= 1);
  CHECK(at("start") == model().bounds.begin.ns);
  CHECK(at("End") == model().bounds.end.ns);
}

TEST_CASE("ranges and steps have a length") {
  CHECK(parse_destination(model(), "1.2s..1500ms", {}).interval ==
        Interval{{1'200'000'000}, {1'500'000'000}});
  CHECK(parse_destination(model(), "1s .. +5ms", {}).interval ==
        Interval{{1'000'000'000}, {1'005'000'000}});
  for (std::string_view text : {"step 7", "Step7", "#7"}) {
    Destination step = parse_destination(model(), text, {});
    REQUIRE(step.target.kind == Target::Kind::kStep);
    CHECK(model().analysis->steps.all[step.target.index].number == 7);
    CHECK(step.interval == model().interval_of(step.target));
  }
}

TEST_CASE("what is no place is refused with what was expected") {
  for (std::string_view text : {"", "soon", "12parsecs", "1s..", "..", "2s..1s", "101%", "step",
                                "#x", "+-3ms", "nan", "inf", "1e300s", "+", "%"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_destination(model(), text, {}), Error);
  }
  CHECK_THROWS_WITH_AS(parse_destination(model(), "5000s", {}),
                       doctest::Contains("outside the trace"), Error);
  CHECK_THROWS_WITH_AS(parse_destination(model(), "step 4000", {}),
                       doctest::Contains("the trace has steps 0 to 39"), Error);
  test::TraceBuilder builder;
  builder.range(1, "work", 0, 10);
  auto session = test::session_of(builder);
  CHECK_THROWS_WITH_AS(parse_destination(session->timeline, "step 1", {}),
                       doctest::Contains("no steps"), Error);
}

}  // namespace headway::gui
