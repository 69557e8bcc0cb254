// SPDX-License-Identifier: MIT
#include "gui/models/timeline/overview_box.h"

#include <doctest/doctest.h>

namespace headway::gui {
namespace {

const TimeMapping kWhole({{0}, {1'000'000}}, 1000);

}  // namespace

TEST_CASE("the box of the overview is where the view is, and always wide enough to be seen") {
  CHECK(overview_box(kWhole, {{200'000}, {300'000}}) == OverviewBox{200, 300});
  CHECK(overview_box(kWhole, {{-500}, {2'000'000}}) == OverviewBox{0, 1000});
  for (std::int64_t at : {0, 500'000, 999'999}) {
    OverviewBox box = overview_box(kWhole, {{at}, {at + 1}});
    CHECK(box.to - box.from == 3);
    CHECK(box.from >= 0);
    CHECK(box.to <= 1000);
    CHECK(box.from <= at / 1000);
    CHECK(box.to > at / 1000);
  }
}

TEST_CASE("what is pressed in the overview is the box, one of its edges, or what lies beside it") {
  const OverviewBox box{200, 300};
  CHECK(overview_grip(box, 1000, 150) == OverviewGrip::kBeside);
  CHECK(overview_grip(box, 1000, 198) == OverviewGrip::kBegin);
  CHECK(overview_grip(box, 1000, 203) == OverviewGrip::kBegin);
  CHECK(overview_grip(box, 1000, 250) == OverviewGrip::kBox);
  CHECK(overview_grip(box, 1000, 301) == OverviewGrip::kEnd);
  CHECK(overview_grip(box, 1000, 310) == OverviewGrip::kBeside);
  // Too narrow for edges: the box with a margin.
  CHECK(overview_grip({500, 503}, 1000, 497) == OverviewGrip::kBox);
  CHECK(overview_grip({500, 503}, 1000, 506) == OverviewGrip::kBox);
  CHECK(overview_grip({500, 503}, 1000, 508) == OverviewGrip::kBeside);
  // The whole trace is in view: there is nothing to move.
  CHECK(overview_grip({0, 1000}, 1000, 500) == OverviewGrip::kBeside);
  CHECK(overview_grip({0, 1000}, 1000, 0) == OverviewGrip::kBeside);
}

}  // namespace headway::gui
