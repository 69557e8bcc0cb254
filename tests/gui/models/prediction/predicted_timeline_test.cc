// SPDX-License-Identifier: MIT
#include "gui/models/prediction/predicted_timeline.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "gui/models/details/details.h"
#include "gui/models/prediction/what_if.h"
#include "gui/models/timeline/row_layout.h"
#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

using analyzer::EventRef;
using analyzer::Fate;

std::shared_ptr<const PredictedTimeline> without_waits() {
  static const WhatIfAnswer result = WhatIfStudy(test::waiting_session()).ask("remove-syncs");
  REQUIRE_MESSAGE(result.timeline, result.missing);
  return result.timeline;
}

RowLayout with_layout(const TimelineModel& model) {
  return RowLayout(model, {20, 16, 36, 4});
}

}  // namespace

TEST_CASE("predicted rows stand beneath the recorded ones, whose ids stay") {
  auto predicted = without_waits();
  const TimelineModel& before = predicted->session->timeline;
  const TimelineModel& model = predicted->model;
  REQUIRE(model.rows.size() > before.rows.size());
  for (std::size_t i = 0; i < before.rows.size(); ++i) {
    CHECK(model.rows[i].label == before.rows[i].label);
    CHECK(model.rows[i].kind == before.rows[i].kind);
  }
  const RowLayout layout = with_layout(model);
  CHECK(layout.shown().size() == model.rows.size());
  for (std::size_t i = before.rows.size(); i < model.rows.size(); ++i) {
    const Row& row = model.rows[i];
    CHECK(row.kind == RowKind::kPredicted);
    CHECK(row.label == "predicted");
    CHECK(row.detail == "with Do not wait for the device");
    CHECK(*layout.index_of(RowId::from(i)) == *layout.index_of(row.companion_of) + 1);
  }
}

TEST_CASE("a layout keeps what was folded, pinned and moved when predicted rows come and go") {
  auto predicted = without_waits();
  const TimelineModel& before = predicted->session->timeline;
  RowLayout layout = with_layout(before);
  const RowId stream = before.row_of_stream[0];
  layout.set_pinned(stream, true);
  std::vector<RowId> order;
  for (const RowLayout::Shown& shown : layout.shown()) order.push_back(shown.row);
  std::vector<RowId> same(predicted->model.rows.size());
  for (std::size_t i = 0; i < before.rows.size(); ++i) same[i] = RowId::from(i);
  layout.adopt(predicted->model, same);
  CHECK(layout.is_pinned(stream));
  // Its prediction is pinned below it.
  REQUIRE(layout.shown().size() > 1);
  CHECK(layout.shown()[0].row == stream);
  CHECK(predicted->model.row(layout.shown()[1].row).companion_of == stream);
  same.resize(before.rows.size());
  layout.adopt(before, same);
  std::vector<RowId> after;
  for (const RowLayout::Shown& shown : layout.shown()) after.push_back(shown.row);
  CHECK(after == order);
}

TEST_CASE("a predicted box is the event that it stands for, at its predicted time") {
  auto predicted = without_waits();
  const TimelineModel& model = predicted->model;
  std::size_t boxes = 0;
  for (std::size_t r = predicted->session->timeline.rows.size(); r < model.rows.size(); ++r) {
    for (const Lane& lane : model.rows[r].lanes) {
      for (std::uint32_t entry = 0; entry < lane.entries(); ++entry) {
        const std::uint32_t task = lane.rows(entry).front();
        const Target target = model.target_of(RowId::from(r), task);
        CHECK(target == Target::prediction(task));
        CHECK(lane.interval(entry) == model.interval_of(target));
        const auto place = model.find(target);
        REQUIRE(place);
        CHECK(place->row == RowId::from(r));
        // Nothing is drawn where nothing is predicted.
        CHECK(lane.interval(entry).begin >= predicted->step.recorded.begin);
        CHECK(lane.interval(entry).end <= predicted->step.predicted_interval().end);
        ++boxes;
      }
    }
  }
  CHECK(boxes > 30);
}

TEST_CASE("what the fix takes away is marked on the recorded rows and has no predicted box") {
  auto predicted = without_waits();
  const trace::Trace& trace = predicted->session->trace;
  const RowId calls = predicted->session->timeline.row_of_calls[0];
  std::int64_t gone = 0;
  for (const analyzer::PredictedTask& task : predicted->step.tasks) {
    if (task.fate != Fate::kGone || task.event.kind != EventRef::Kind::kCall) continue;
    CHECK(trace::is_blocking(trace.calls.kind[task.event.index]));
    ++gone;
  }
  CHECK(gone > 10);
  const Lane* lane = predicted->gone(calls, 0);
  REQUIRE(lane);
  CHECK(static_cast<std::int64_t>(lane->events()) == gone);
  CHECK(!predicted->gone(predicted->session->timeline.row_of_stream[0], 0));
}

TEST_CASE("the texts tell recorded and predicted times") {
  auto predicted = without_waits();
  CHECK(predicted->sentence().find("with “Do not wait for the device”") != std::string::npos);
  CHECK(predicted->sentence().find(" instead of ") != std::string::npos);
  CHECK(predicted->gain_text().ends_with(" less"));
  const TimelineModel& model = predicted->model;
  const Lane& lane = model.row(predicted->first_row()).lanes.front();
  const Target target = Target::prediction(lane.rows(3).front());
  CHECK(!title_of(model, target).empty());
  const std::vector<Detail> lines = describe_briefly(model, target);
  REQUIRE(lines.size() >= 2);
  CHECK(lines[0].label == "Predicted");
  CHECK(lines[0].value.find(" in the step, takes ") != std::string::npos);
  CHECK(lines[1].label == "Recorded");
  // The event itself is a click away.
  const std::vector<Detail> full = describe(model, target);
  CHECK(std::any_of(full.begin(), full.end(),
                    [](const Detail& one) { return one.link.kind == Target::Kind::kEvent; }));
}

}  // namespace headway::gui
