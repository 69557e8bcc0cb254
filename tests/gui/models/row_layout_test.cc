// SPDX-License-Identifier: MIT
#include "gui/models/row_layout.h"

#include <doctest/doctest.h>

#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

RowId row_named(const TimelineModel& model, std::string_view label) {
  for (std::size_t i = 0; i < model.rows.size(); ++i) {
    if (model.rows[i].label == label) return RowId::from(i);
  }
  return {};
}

}  // namespace

TEST_CASE("rows lie below each other and every y has its row") {
  const TimelineModel& model = test::training_session()->timeline;
  RowLayout layout(model, {20, 16, 36, 4});
  REQUIRE(layout.shown().size() == model.rows.size());
  std::int64_t y = 0;
  for (std::size_t i = 0; i < layout.shown().size(); ++i) {
    const RowLayout::Shown& shown = layout.shown()[i];
    CHECK(shown.y == y);
    CHECK(layout.index_at(shown.y) == i);
    CHECK(layout.index_at(shown.y + shown.height + 3) == i);
    CHECK(layout.index_of(shown.row) == i);
    y += shown.height + 4;
  }
  CHECK(layout.height() == y);
  CHECK(!layout.index_at(-1));
  CHECK(!layout.index_at(y));
}

TEST_CASE("folding hides what is below and all but the first line, unfolding brings it back") {
  const TimelineModel& model = test::training_session()->timeline;
  RowLayout layout(model, {});
  const std::int64_t full = layout.height();
  RowId trainer = row_named(model, "trainer");
  RowId calls = row_named(model, "Device API");
  layout.set_folded(trainer, true);
  CHECK(layout.height() < full);
  std::size_t index = *layout.index_of(trainer);
  CHECK(layout.shown()[index].lanes == 1);
  // What is hidden answers with the row that hides it.
  CHECK(layout.shown()[*layout.index_of(calls)].row == trainer);
  layout.reveal(calls, 0);
  CHECK(layout.shown()[*layout.index_of(calls)].row == calls);
  CHECK(layout.height() == full);
  layout.fold_all(true);
  CHECK(layout.shown().size() == 2);  // the device and the process
  layout.reveal(trainer, 2);
  CHECK(layout.shown()[*layout.index_of(trainer)].lanes == model.row(trainer).lanes.size());
  layout.fold_all(false);
  CHECK(layout.height() == full);
}

TEST_CASE("a y inside a row tells its line") {
  const TimelineModel& model = test::training_session()->timeline;
  RowLayout layout(model, {20, 16, 36, 4});
  const RowLayout::Shown& shown = layout.shown()[*layout.index_of(row_named(model, "trainer"))];
  CHECK(layout.lane_at(shown, shown.y) == 0);
  CHECK(layout.lane_at(shown, shown.y + 17) == 1);
  CHECK(layout.lane_at(shown, shown.y + 1000) == shown.lanes - 1);
  CHECK(layout.lane_y(shown, 2) == shown.y + 32);
}

TEST_CASE("ten thousand rows are laid out and folded one by one") {
  test::TraceBuilder builder;
  for (int t = 0; t < 10'000; ++t) builder.range(t + 1, "work", t, t + 5);
  auto session = test::session_of(builder);
  RowLayout layout(session->timeline, {});
  CHECK(layout.shown().size() == 10'001);
  layout.fold_all(true);
  CHECK(layout.shown().size() == 1);
  layout.reveal(RowId{9'000}, 0);
  CHECK(layout.index_of(RowId{9'000}));
}

}  // namespace headway::gui
