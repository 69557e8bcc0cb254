// SPDX-License-Identifier: MIT
#include "gui/models/timeline/row_layout.h"

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

namespace {

std::vector<std::string> labels(const TimelineModel& model, const RowLayout& layout) {
  std::vector<std::string> result;
  std::int64_t y = 0;
  for (const RowLayout::Shown& shown : layout.shown()) {
    CHECK(shown.y == y);
    CHECK(layout.index_of(shown.row) == result.size());
    y += shown.height + layout.metrics().gap;
    result.push_back(std::string(shown.depth, ' ') + model.row(shown.row).label);
  }
  CHECK(layout.height() == y);
  return result;
}

}  // namespace

TEST_CASE("a pinned row stands at the top with what is below it and goes back when let go") {
  const TimelineModel& model = test::training_session()->timeline;
  RowLayout layout(model, {});
  const std::vector<std::string> before = labels(model, layout);
  RowId trainer = row_named(model, "trainer");
  RowId stream = row_named(model, "Stream 2");
  layout.set_pinned(trainer, true);
  layout.set_pinned(stream, true);
  std::vector<std::string> pinned = labels(model, layout);
  CHECK(pinned.size() == before.size());
  CHECK(pinned[0] == "trainer");
  CHECK(pinned[1] == " Device API");
  CHECK(layout.shown()[0].pinned);
  CHECK(layout.pinned_height() == layout.shown()[layout.index_of(stream).value() + 1].y);
  CHECK(layout.hidden() == 0);
  CHECK(layout.move(stream, false));
  CHECK(labels(model, layout)[0] == "Stream 2");
  CHECK(!layout.move(stream, false));
  layout.set_folded(trainer, true);
  CHECK(layout.shown()[*layout.index_of(row_named(model, "Device API"))].row == trainer);
  layout.set_folded(trainer, false);
  layout.set_pinned(trainer, false);
  layout.set_pinned(stream, false);
  CHECK(labels(model, layout) == before);
  CHECK(layout.pinned_height() == 0);
}

TEST_CASE("hidden rows are counted and come back") {
  const TimelineModel& model = test::training_session()->timeline;
  RowLayout layout(model, {});
  const std::vector<std::string> before = labels(model, layout);
  RowId trainer = row_named(model, "trainer");
  const std::size_t rows = model.row(trainer).descendants + std::size_t{1};
  layout.hide(trainer);
  CHECK(layout.hidden() == rows);
  CHECK(!layout.index_of(trainer));
  CHECK(labels(model, layout).size() == before.size() - rows);
  layout.reveal(row_named(model, "Device API"), 0);
  CHECK(layout.hidden() == 0);
  layout.hide(trainer);
  layout.hide(row_named(model, "Stream 1"));
  CHECK(layout.hidden() == rows + 1);
  layout.show_all();
  CHECK(labels(model, layout) == before);
}

TEST_CASE("a filter leaves the rows of that name with what is above and below them") {
  const TimelineModel& model = test::training_session()->timeline;
  RowLayout layout(model, {});
  layout.set_filter("LOADER 1");
  CHECK(labels(model, layout) ==
        std::vector<std::string>{"Process", " Loader workers", "  loader 1"});
  CHECK(layout.hidden() == model.rows.size() - 3);
  // Below a folded row it is seen all the same.
  layout.fold_all(true);
  CHECK(layout.index_of(row_named(model, "loader 1")) == 2);
  layout.fold_all(false);
  layout.set_filter("trainer");
  CHECK(layout.index_of(row_named(model, "Device API")));
  CHECK(!layout.index_of(row_named(model, "Stream 1")));
  // What something leads to is shown, whatever the filter says.
  layout.reveal(row_named(model, "Stream 1"), 0);
  CHECK(layout.index_of(row_named(model, "Stream 1")));
  layout.set_filter("nothing is named so");
  CHECK(layout.shown().empty());
  CHECK(layout.height() == 0);
  CHECK(!layout.index_at(0));
  layout.set_filter("");
  CHECK(layout.hidden() == 0);
  std::vector<bool> only(model.rows.size(), false);
  only[row_named(model, "Stream 2").value] = true;
  layout.set_only(only);
  CHECK(labels(model, layout) == std::vector<std::string>{"Host device 0", " Stream 2"});
  layout.show_all();
  CHECK(layout.hidden() == 0);
}

TEST_CASE("rows move among their siblings with what is below them, and nowhere else") {
  const TimelineModel& model = test::training_session()->timeline;
  RowLayout layout(model, {});
  const std::vector<std::string> before = labels(model, layout);
  RowId device = row_named(model, "Host device 0");
  RowId process = row_named(model, "Process");
  CHECK(layout.move(process, false));
  std::vector<std::string> moved = labels(model, layout);
  CHECK(moved.front() == "Process");
  CHECK(moved.back() == " Stream 2");
  CHECK(!layout.move(process, false));
  CHECK(layout.move(process, true));
  CHECK(labels(model, layout) == before);
  CHECK(!layout.move_to(row_named(model, "Stream 1"), process, true));
  RowId one = row_named(model, "Stream 1");
  RowId two = row_named(model, "Stream 2");
  CHECK(layout.move_to(two, one, false));
  CHECK(*layout.index_of(two) + 1 == *layout.index_of(one));
  CHECK(layout.move_to(two, one, true));
  CHECK(labels(model, layout) == before);
  CHECK(!layout.move_to(device, device, true));
}

TEST_CASE("ten thousand rows are laid out and folded one by one") {
  test::TraceBuilder builder;
  for (int t = 0; t < 10'000; ++t) builder.range(t + 1, "work", t, t + 5);
  auto session = test::session_of(builder);
  RowLayout layout(session->timeline, {});
  CHECK(layout.shown().size() == 10'002);  // the process, its time classes, the threads
  layout.fold_all(true);
  CHECK(layout.shown().size() == 1);
  layout.reveal(RowId{9'000}, 0);
  CHECK(layout.index_of(RowId{9'000}));
}

}  // namespace headway::gui
