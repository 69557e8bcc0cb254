// SPDX-License-Identifier: MIT
// A predicted step on the timeline: how one gets there, what it says, how it goes away.
#include <doctest/doctest.h>

#include <QAction>
#include <QLabel>
#include <QPushButton>
#include <algorithm>

#include "analyzer/whatif/fix.h"
#include "common/format.h"
#include "gui/pages/findings_page.h"
#include "gui/pages/timeline_page.h"
#include "gui/timeline/background_task.h"
#include "tests/gui/support/application.h"
#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

struct Window {
  explicit Window(const std::filesystem::path& file = test::waiting_file())
      : window(test::open_window(file, {1280, 900})) {
    window->show_page(Page::kTimeline);
  }
  TimelinePage& page() { return window->timeline(); }
  TimelineView& view() { return page().view(); }
  void wait() {
    REQUIRE(test::wait_until([] { return !BackgroundTask::any_running(); }));
    QApplication::processEvents();
  }
  void show() {
    QTest::keyClick(&view(), Qt::Key_X);
    wait();
    REQUIRE(view().predicted());
  }
  /// The middle of a predicted box that is wide enough to be hit.
  QPoint box_of_prediction(Target* target) {
    const RowId row = view().predicted()->first_row();
    const Lane& lane = view().frame().model->row(row).lanes.front();
    *target = Target::prediction(lane.rows(2).front());
    return box_of(view().frame(), *target)->center().toPoint();
  }

  std::unique_ptr<MainWindow> window;
};

}  // namespace

TEST_CASE("the button of a finding leads to the predicted step beside the recorded one") {
  Window w;
  w.window->show_page(Page::kFindings);
  int with_prediction = -1;
  const auto& findings = w.window->session()->analysis.findings;
  for (std::size_t i = 0; i < findings.size() && with_prediction < 0; ++i)
    if (findings[i].predicted) with_prediction = static_cast<int>(i);
  REQUIRE(with_prediction >= 0);
  w.window->go_to({.page = Page::kFindings, .finding = with_prediction});
  QPushButton* button = w.window->findings().findChild<QPushButton*>("predicted step");
  REQUIRE(button);
  button->click();
  CHECK(w.window->page() == Page::kTimeline);
  w.wait();
  REQUIRE(w.view().predicted());
  REQUIRE(w.view().predicted()->fixes.size() == 1);
  CHECK(w.view().predicted()->fixes.front()->id ==
        findings[static_cast<std::size_t>(with_prediction)].predicted->fix);
  // Both steps are in view, and so is the first predicted row.
  const Interval visible = w.view().mapping().visible();
  const analyzer::PredictedStep& step = w.view().predicted()->step;
  CHECK(visible.begin <= step.recorded.begin);
  CHECK(visible.end >= std::max(step.recorded.end, step.predicted_interval().end));
  const auto row = w.view().layout().index_of(w.view().predicted()->first_row());
  REQUIRE(row);
  const int y = w.view().frame().screen_y(w.view().layout().shown()[*row].y);
  CHECK(y > w.view().frame().header_height());
  CHECK(y < w.view().height());
  // The rows begin with a whole one: no heading is cut in half.
  const std::int64_t first_y = w.view().frame().scroll + w.view().frame().sticky_height();
  CHECK(std::ranges::any_of(w.view().layout().shown(),
                            [&](const RowLayout::Shown& shown) { return shown.y == first_y; }));
  CHECK(w.page().prediction_note().isVisible());
  CHECK(w.page().prediction_note().text().contains(" instead of "));
}

TEST_CASE("the key shows and hides it, Escape and the note hide it, and nothing of it stays") {
  Window w;
  const std::size_t rows = w.view().layout().shown().size();
  w.show();
  CHECK(w.view().layout().shown().size() > rows);
  QTest::keyClick(&w.view(), Qt::Key_X);
  CHECK(!w.view().predicted());
  CHECK(w.view().layout().shown().size() == rows);
  CHECK(!w.page().prediction_note().isVisible());
  w.show();
  Target target;
  QTest::mouseClick(w.view().viewport(), Qt::LeftButton, {}, w.box_of_prediction(&target));
  CHECK(w.view().selection() == target);
  // First the selection, then the prediction.
  QTest::keyClick(&w.view(), Qt::Key_Escape);
  CHECK(!w.view().selection());
  CHECK(w.view().predicted());
  QTest::keyClick(&w.view(), Qt::Key_Escape);
  CHECK(!w.view().predicted());
  w.show();
  QTest::mouseClick(w.view().viewport(), Qt::LeftButton, {}, w.box_of_prediction(&target));
  emit w.page().prediction_note().followed();
  CHECK(w.page().what_if().ticked().empty());
  CHECK(!w.view().predicted());
  CHECK(!w.view().selection());
  CHECK(w.view().frame().model == &w.window->session()->timeline);
}

TEST_CASE("a predicted box tells recorded and predicted times and leads to its event") {
  Window w;
  w.show();
  Target target;
  QTest::mouseClick(w.view().viewport(), Qt::LeftButton, {}, w.box_of_prediction(&target));
  REQUIRE(w.view().selection() == target);
  const QString details = w.page().details().text();
  CHECK(details.contains("(predicted)"));
  CHECK(details.contains("Predicted: +"));
  CHECK(details.contains("Recorded: "));
  QTest::keyClick(&w.view(), Qt::Key_G);
  CHECK(w.view().selection() == Target::of(w.view().predicted()->step.tasks[target.index].event));
  // Bookmarks, copies and rows work with predicted boxes as with any other.
  QTest::mouseClick(w.view().viewport(), Qt::LeftButton, {}, w.box_of_prediction(&target));
  for (Command command : {Command::kBookmark, Command::kCopy, Command::kCopyEvents,
                          Command::kNextOnLane, Command::kFilterToName, Command::kShowInOps,
                          Command::kZoomToSelection, Command::kNextSameName})
    w.page().run(command);
  CHECK(w.view().predicted());
}

TEST_CASE("the menu of the timeline offers the predicted step") {
  Window w;
  const auto entry = [&](const QString& text) {
    const TimelineModel& model = *w.view().frame().model;
    w.view().select(model.target_of(model.row_of_stream[0], 0), true);
    w.page().run(Command::kMenu);
    REQUIRE(w.page().menu());
    QAction* found = nullptr;
    for (QAction* action : w.page().menu()->actions())
      if (action->text().startsWith(text)) found = action;
    return found;
  };
  QAction* show = entry("Show a step with “");
  REQUIRE(show);
  show->trigger();
  w.wait();
  CHECK(w.view().predicted());
  CHECK(entry("Hide the predicted step"));
}

TEST_CASE("searching, filtering, folding and the critical path go on beside predicted rows") {
  Window w;
  w.page().run(Command::kCriticalPath);
  w.show();
  w.page().search().search_for("gemm");
  w.wait();
  w.view().show_only_hits(true);
  QApplication::processEvents();
  CHECK(w.window->grab().width() > 0);
  w.view().show_only_hits(false);
  w.view().set_row_filter("stream");
  CHECK(w.view().layout().shown().size() >= 4);
  w.view().set_row_filter("");
  w.page().run(Command::kFoldAll);
  w.page().run(Command::kUnfoldAll);
  CHECK(w.window->grab().width() > 0);
  QTest::keyClick(&w.view(), Qt::Key_X);
  CHECK(!w.view().predicted());
  CHECK(w.window->grab().width() > 0);
}

namespace {

/// The middle of a fix's check box in the panel.
QTreeWidgetItem* item_of(WhatIfPanel& panel, std::string_view fix) {
  const QString title = QString::fromStdString(std::string(analyzer::find_fix(fix)->title));
  const auto found = panel.list().findItems(title, Qt::MatchExactly | Qt::MatchRecursive);
  REQUIRE(found.size() == 1);
  return found.front();
}
/// A fix that can be ticked beside remove-syncs.
std::string_view another(const WhatIfPanel& panel) {
  for (const FixChoice& one : panel.study()->choices())
    if (one.group != FixGroup::kNotHere && one.fix->id != "remove-syncs" &&
        one.fix->id != "larger-batch")
      return one.fix->id;
  FAIL("only one fix applies");
  return {};
}
void click_box(WhatIfPanel& panel, std::string_view fix) {
  QTreeWidgetItem* item = item_of(panel, fix);
  panel.list().scrollToItem(item);
  const QRect row = panel.list().visualItemRect(item);
  QTest::mouseClick(panel.list().viewport(), Qt::LeftButton, {},
                    {row.left() + 10, row.center().y()});
}

}  // namespace

TEST_CASE("fixes are ticked together, and the predicted step moves beside the recorded one") {
  Window w;
  QTest::keyClick(&w.view(), Qt::Key_X, Qt::ShiftModifier);
  WhatIfPanel& panel = w.page().what_if();
  REQUIRE(panel.isVisible());
  CHECK(panel.list().hasFocus());
  w.wait();
  CHECK(panel.result().startsWith("Tick fixes"));
  CHECK(!w.view().predicted());
  click_box(panel, "remove-syncs");
  CHECK(panel.result().startsWith("Replaying …"));
  w.wait();
  REQUIRE(panel.answer());
  REQUIRE(w.view().predicted());
  CHECK(panel.result().contains(
      QString::fromStdString(format_duration(panel.answer()->prediction.step))));
  // Space on the next one: both, and the timeline with both.
  panel.list().setCurrentItem(item_of(panel, another(panel)));
  QTest::keyClick(&panel.list(), Qt::Key_Space);
  CHECK(panel.ticked().size() == 2);
  w.wait();
  REQUIRE(w.view().predicted());
  CHECK(w.view().predicted()->fixes == panel.answer()->fixes);
  CHECK(panel.result().contains("separately", Qt::CaseInsensitive));
  click_box(panel, "remove-syncs");
  w.wait();
  REQUIRE(w.view().predicted());
  CHECK(w.view().predicted()->fixes.size() == 1);
  // Esc on the timeline takes the ticks with it.
  w.view().setFocus();
  QTest::keyClick(&w.view(), Qt::Key_Escape);
  CHECK(!w.view().predicted());
  CHECK(panel.ticked().empty());
  CHECK(item_of(panel, another(panel))->checkState(0) == Qt::Unchecked);
  CHECK(panel.result().startsWith("Tick fixes"));
}

TEST_CASE("a tick while the former is replayed replaces it") {
  Window w;
  w.page().run(Command::kWhatIf);
  w.wait();
  WhatIfPanel& panel = w.page().what_if();
  click_box(panel, "remove-syncs");
  click_box(panel, another(panel));
  click_box(panel, "remove-syncs");
  CHECK(panel.is_replaying());
  w.wait();
  REQUIRE(panel.answer());
  CHECK(panel.answer()->fixes == std::vector{analyzer::find_fix(another(panel))});
}

TEST_CASE("a fix that does not apply is said in the panel and above the timeline") {
  Window w;
  w.page().run(Command::kWhatIf);
  w.page().what_if().tick({analyzer::find_fix("free-input")});
  w.wait();
  CHECK(w.page().what_if().result().startsWith("Cannot predict\nfree-input does not apply"));
  CHECK(w.page().prediction_note().isVisible());
  CHECK(w.page().prediction_note().text().startsWith("Nothing was predicted: free-input"));
  CHECK(!w.view().predicted());
}

TEST_CASE("another trace takes the prediction of the former with it") {
  Window w;
  w.show();
  w.window->open(test::training_file());
  REQUIRE(test::wait_until([&] { return w.window->session()->trace.event_count() > 2000; }));
  CHECK(!w.view().predicted());
  CHECK(!w.page().prediction_note().isVisible());
}

TEST_CASE("one button ticks all advised fixes, and promises the step that they take together") {
  Window w(test::training_file());
  QTest::keyClick(&w.view(), Qt::Key_X, Qt::ShiftModifier);
  w.wait();
  QPushButton& button = w.page().what_if().plan();
  const auto& plan = w.window->session()->analysis.plan;
  REQUIRE(plan.size() >= 2);
  REQUIRE(button.isVisible());
  CHECK(button.text().contains(QString::fromStdString(format_duration(plan.back().step))));
  button.click();
  w.wait();
  REQUIRE(w.page().what_if().answer());
  CHECK(w.page().what_if().ticked().size() == plan.size());
  const analyzer::Prediction& told = w.page().what_if().answer()->prediction;
  CHECK(told.step == plan.back().step);
  // The window says the report's interval.
  const auto step = static_cast<double>(plan.back().recorded.ns);
  CHECK(told.gain_ns.low / step == doctest::Approx(plan.back().low));
  CHECK(told.gain_ns.high / step == doctest::Approx(plan.back().high));
}

TEST_CASE("without a plan there is no button for one") {
  Window w;
  QTest::keyClick(&w.view(), Qt::Key_X, Qt::ShiftModifier);
  w.wait();
  REQUIRE(w.window->session()->analysis.plan.empty());
  CHECK(!w.page().what_if().plan().isVisible());
}

}  // namespace headway::gui
