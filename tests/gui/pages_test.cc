// SPDX-License-Identifier: MIT
// What each page does under a hand, without a display.
#include <doctest/doctest.h>

#include <QClipboard>
#include <QFile>

#include "gui/pages/data_table.h"
#include "gui/pages/health_page.h"
#include "gui/pages/input_page.h"
#include "gui/pages/kernels_page.h"
#include "gui/pages/labels.h"
#include "gui/pages/memory_page.h"
#include "gui/pages/ops_page.h"
#include "gui/pages/ranks_page.h"
#include "gui/pages/roofline_page.h"
#include "gui/pages/steps_page.h"
#include "gui/pages/tables_page.h"
#include "gui/pages/timeline_page.h"
#include "gui/timeline/background_task.h"
#include "tests/gui/support/application.h"
#include "tests/gui/support/sessions.h"
#include "tests/support/temporary_folder.h"

namespace headway::gui {
namespace {

MainWindow& window() {
  // Never destroyed: after main() Qt has already taken down what a window needs.
  static MainWindow& shared = *test::open_window(test::training_file()).release();
  return shared;
}

/// The page, shown and with its figures there.
template <class PageType>
PageType& shown(MainWindow& w, Page page) {
  w.show_page(page);
  REQUIRE(test::wait_until([] { return !BackgroundTask::any_running(); }));
  QApplication::processEvents();
  return static_cast<PageType&>(w.widget(page));
}

void open_row(DataTable& table, int row) {
  emit table.view().activated(table.model().index(row, 0));
}

void click(QWidget& widget, const QPoint& at, Qt::KeyboardModifiers modifiers = {}) {
  QTest::mouseClick(&widget, Qt::LeftButton, modifiers, at);
}

}  // namespace

TEST_CASE("the kernels page groups, filters, copies, and leads to the longest of a kernel") {
  MainWindow& w = window();
  KernelsPage& page = shown<KernelsPage>(w, Page::kKernels);
  DataTable& table = page.table();
  int all = table.model().rowCount();
  REQUIRE(all > 3);
  table.filter().setText("conv");
  int some = table.model().rowCount();
  CHECK(some > 0);
  CHECK(some < all);
  CHECK(table.note().contains(QString::number(some)));
  table.view().selectRow(0);
  QTest::keyClick(&table.view(), Qt::Key_C, Qt::ControlModifier);
  CHECK(QGuiApplication::clipboard()->text().count('\n') == 2);
  CHECK(QGuiApplication::clipboard()->text().contains(table.model().index(0, 0).data().toString()));
  Target longest = table.model().table()->link(table.model().source(0));
  open_row(table, 0);
  CHECK(w.page() == Page::kTimeline);
  CHECK(w.timeline().view().selection() == longest);
  table.filter().clear();
  page.grouping().setCurrentIndex(1);
  shown<KernelsPage>(w, Page::kKernels);
  CHECK(table.model().rowCount() < all);
  test::TemporaryFolder folder;
  QString file = QString::fromStdString((folder / "kernels.csv").string());
  CHECK(table.save_csv(file));
  QFile csv(file);
  REQUIRE(csv.open(QIODevice::ReadOnly));
  CHECK(csv.readAll().count('\n') == table.model().rowCount() + 1);
  CHECK(!table.save_csv("/nonexistent/folder/x.csv"));
  page.grouping().setCurrentIndex(0);
}

TEST_CASE("the flame graph zooms by click, searches, and leads to the longest") {
  MainWindow& w = window();
  OpsPage& page = shown<OpsPage>(w, Page::kOps);
  page.tabs().setCurrentIndex(1);
  REQUIRE(test::wait_until([&] { return page.flames().is_ready(); }));
  QApplication::processEvents();
  FlameView& view = page.flames().view();
  auto box_of_depth = [&](int row) {
    for (const FlameBox& box : view.boxes())
      if (box.row == row && box.merged == 1) return box;
    return FlameBox{};
  };
  FlameBox box = box_of_depth(2);
  REQUIRE(box.node != 0);
  click(view, view.rect_of(box).center());
  CHECK(view.focus() == box.node);
  CHECK(view.rect_of(box_of_depth(2)).width() >= view.width() - 2);
  click(view, view.rect_of(view.boxes()[0]).center());
  CHECK(view.focus() == 0);
  page.flames().search().setText("conv");
  CHECK(page.flames().note().contains("highlighted"));
  page.flames().search().clear();
  QTest::keyClick(&view, Qt::Key_Down);
  QTest::keyClick(&view, Qt::Key_Return);
  CHECK(view.focus() == view.current());
  CHECK(view.focus() != 0);
  QTest::keyClick(&view, Qt::Key_Escape);
  CHECK(view.focus() == 0);
  box = box_of_depth(1);
  click(view, view.rect_of(box).center(), Qt::ControlModifier);
  CHECK(w.page() == Page::kTimeline);
  CHECK(w.timeline().view().selection());
  page.flames().weight().setCurrentIndex(1);
  REQUIRE(test::wait_until([&] { return page.flames().is_ready(); }));
  CHECK(page.flames().note().startsWith("Host time"));
  page.tabs().setCurrentIndex(0);
}

TEST_CASE("the steps page tells the spread of the steps") {
  MainWindow& w = window();
  StepsPage& page = shown<StepsPage>(w, Page::kSteps);
  CHECK(page.histogram().accessibleDescription().contains("steady steps: median"));
  CHECK(page.histogram().isVisible());
}

TEST_CASE("the ranks page of one rank says what to give it") {
  MainWindow& w = window();
  RanksPage& page = shown<RanksPage>(w, Page::kRanks);
  CHECK(page.empty_text().contains("one rank"));
  CHECK(page.empty_text().contains("headway record"));
}

TEST_CASE("the input page names the stage that limits, and a part of a worker's bar leads there") {
  MainWindow& w = window();
  InputPage& page = shown<InputPage>(w, Page::kInput);
  CHECK(page.text().contains("Decode takes most"));
  CHECK(page.stages().model().rowCount() >= 4);
  click(page.workers(), page.workers().rect_of(0, 1).center());
  CHECK(w.page() == Page::kTimeline);
  analyzer::EventRef event = w.timeline().view().selection().event;
  REQUIRE(event.kind == analyzer::EventRef::Kind::kRange);
  CHECK(analyzer::name_of(w.session()->trace, event) == "decode");
  shown<InputPage>(w, Page::kInput);
  page.workers().setFocus();
  QTest::keyClick(&page.workers(), Qt::Key_Right);
  CHECK(page.workers().accessibleDescription().contains("Augment"));
}

TEST_CASE("the memory page shows counters, and a click leads to that time") {
  MainWindow& w = window();
  MemoryPage& page = shown<MemoryPage>(w, Page::kMemory);
  CounterCharts& charts = page.charts();
  Interval all = charts.mapping().visible();
  QTest::keyClick(&charts, Qt::Key_Plus);
  CHECK(charts.mapping().visible().length() < all.length());
  QTest::keyClick(&charts, Qt::Key_F);
  QPoint middle(charts.width() / 2, 60);
  click(charts, middle);
  CHECK(w.page() == Page::kTimeline);
  Interval view = w.timeline().view().mapping().visible();
  CHECK(view.length() < all.length() / 50);
  CHECK(all.contains(view.begin));
  shown<MemoryPage>(w, Page::kMemory);
  page.tabs().setCurrentIndex(4);
  REQUIRE(page.copies().model().rowCount() > 0);
  open_row(page.copies(), 0);
  CHECK(w.page() == Page::kTimeline);
}

TEST_CASE("a point of the roofline leads to the longest of its kernels") {
  MainWindow& w = window();
  RooflinePage& page = shown<RooflinePage>(w, Page::kRoofline);
  RooflineView& view = page.view();
  REQUIRE(view.point_at(view.place_of(0)));
  click(view, view.place_of(0).toPoint());
  CHECK(w.page() == Page::kTimeline);
  CHECK(w.timeline().view().selection().event.kind == analyzer::EventRef::Kind::kDeviceOp);
  CHECK(page.table().model().rowCount() > 3);
}

TEST_CASE("the tables page runs SQL that only reads, tells errors, and can be stopped") {
  MainWindow& w = window();
  TablesPage& page = shown<TablesPage>(w, Page::kTables);
  REQUIRE(page.tables().topLevelItemCount() > 5);
  auto run = [&](const QString& sql) {
    page.sql().setPlainText(sql);
    QTest::keyClick(&page.sql(), Qt::Key_Return, Qt::ControlModifier);
    REQUIRE(test::wait_until([&] { return !page.is_querying(); }));
  };
  run("SELECT start, end FROM NVTX_EVENTS ORDER BY start LIMIT 7");
  CHECK(page.result().model().rowCount() == 7);
  CHECK(page.status().startsWith("7 rows"));
  open_row(page.result(), 3);
  CHECK(w.page() == Page::kTimeline);
  w.show_page(Page::kTables);
  run("SELECT missing FROM nowhere");
  CHECK_MESSAGE(page.status().contains("no such table"), page.status().toStdString());
  CHECK(page.result().model().rowCount() ==
        0);  // rows of the query before would look like its answer
  run("DELETE FROM NVTX_EVENTS");
  CHECK(page.status().contains("is refused"));
  page.sql().setPlainText(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n");
  page.run();
  CHECK(page.is_querying());
  page.stop();
  CHECK(!page.is_querying());
  CHECK(page.status() == "Stopped.");
  QTreeWidgetItem* first = page.tables().topLevelItem(0);
  emit page.tables().itemActivated(first, 0);
  REQUIRE(test::wait_until([&] { return !page.is_querying(); }));
  CHECK(page.sql().toPlainText().contains(first->text(0)));
}

TEST_CASE("the health page tells doubts and coverage, and follows the theme") {
  MainWindow& w = window();
  HealthPage& page = shown<HealthPage>(w, Page::kHealth);
  REQUIRE(page.health());
  QStringList texts;
  for (WrapLabel* label : page.findChildren<WrapLabel*>()) texts << label->text();
  CHECK(texts.join('\n').contains("Recorded and missing data"));
  w.set_dark(!w.is_dark());
  QApplication::processEvents();
  CHECK(!page.findChildren<WrapLabel*>().isEmpty());
  w.set_dark(!w.is_dark());
}

TEST_CASE("every page of a trace without events is empty with a reason, not broken") {
  test::TraceBuilder nothing;
  nothing.counter("process.cpu", "%", 0, 1);
  auto w = test::open_window(nothing.save());
  REQUIRE(w->session());
  for (const PageInfo& one : pages()) {
    CAPTURE(one.id);
    w->show_page(one.page);
    REQUIRE(test::wait_until([] { return !BackgroundTask::any_running(); }));
    CHECK(test::count_colors(w->grab().toImage(), 3) >= 3);
    if (auto* page = dynamic_cast<ComputedPage*>(&w->widget(one.page));
        page && one.page != Page::kTables && one.page != Page::kHealth)
      CHECK(page->empty_text().size() > 20);
  }
}

TEST_CASE("every page survives a hostile trace in both themes, and a small window") {
  test::TraceBuilder hostile;
  test::build_hostile(hostile, 200);
  auto w = test::open_window(hostile.save(), {480, 360});
  REQUIRE(w->session());
  for (bool dark : {false, true}) {
    w->set_dark(dark);
    for (const PageInfo& one : pages()) {
      CAPTURE(one.id);
      w->show_page(one.page);
      REQUIRE(test::wait_until([] { return !BackgroundTask::any_running(); }));
      CHECK(!w->grab().isNull());
    }
  }
}

TEST_CASE("a page that is left while it works neither shows the old trace nor hangs") {
  auto w = test::open_window(test::training_file());
  test::TraceBuilder other;
  other.launch(1, 0, 1, 10, 20, {.name = "only one"});
  w->show_page(Page::kKernels);
  auto session = w->session();
  w->open(other.save());
  REQUIRE(test::wait_until([&] { return w->session() != session; }));
  w->show_page(Page::kKernels);
  REQUIRE(test::wait_until([] { return !BackgroundTask::any_running(); }));
  CHECK(static_cast<KernelsPage&>(w->widget(Page::kKernels)).table().model().rowCount() == 1);
}

}  // namespace headway::gui
