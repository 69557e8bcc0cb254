// SPDX-License-Identifier: MIT
// Two traces beside each other, without a display.
#include <doctest/doctest.h>

#include <QDropEvent>
#include <QMimeData>
#include <QPushButton>
#include <QTableView>
#include <QWheelEvent>
#include <cmath>
#include <fstream>

#include "gui/pages/compare_page.h"
#include "gui/pages/labels.h"
#include "tests/gui/support/application.h"
#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

QUrl url(const std::filesystem::path& path) {
  return QUrl::fromLocalFile(QString::fromStdString(path.string()));
}

bool drop(QWidget& widget, const QList<QUrl>& urls) {
  QMimeData data;
  data.setUrls(urls);
  QDragEnterEvent enter({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&widget, &enter);
  if (!enter.isAccepted()) return false;
  QDropEvent event({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&widget, &event);
  return true;
}

bool wait_for_pair(MainWindow& window) {
  return test::wait_until([&] { return window.compare().pair() != nullptr; });
}

/// A window in which the two traces are compared; never destroyed, as main_window_test's.
MainWindow& window() {
  static MainWindow& shared = [&]() -> MainWindow& {
    MainWindow& made = *test::open_window(test::training_file(), {1440, 900}).release();
    made.compare_with(test::faster_file());
    wait_for_pair(made);
    QApplication::processEvents();
    return made;
  }();
  return shared;
}

/// How far apart the two views are, in nanoseconds of step time.
double misalignment(CompareTimelines& timelines) {
  double worst = 0;
  const TimeMapping& a = timelines.view(Side::kA).mapping();
  const TimeMapping& b = timelines.view(Side::kB).mapping();
  REQUIRE(a.width() == b.width());
  CHECK(a.ns_per_pixel() == doctest::Approx(b.ns_per_pixel()));
  for (int x : {0, a.width() / 2, a.width() - 1}) {
    double apart = static_cast<double>((b.time_at(x) - a.time_at(x) - timelines.offset()).ns);
    worst = std::max(worst, std::fabs(apart));
  }
  return worst;
}

void wheel(TimelineView& view, double x, int notches) {
  QPointF at(view.frame().gutter + x, 150);
  QWheelEvent event(at, view.viewport()->mapToGlobal(at), {}, {0, 120 * notches}, Qt::NoButton,
                    Qt::NoModifier, Qt::NoScrollPhase, false);
  QApplication::sendEvent(view.viewport(), &event);
}

QPushButton* button(QWidget& parent, const QString& words) {
  for (QPushButton* one : parent.findChildren<QPushButton*>()) {
    if (one->text().remove('&').contains(words) && one->isVisible()) return one;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("the verdict stands on top and the tables list what changed") {
  MainWindow& w = window();
  ComparePage& page = w.compare();
  CHECK(w.page() == Page::kCompare);
  CHECK(page.verdict().startsWith("B is faster by "));
  CHECK(page.verdict().contains("95 % interval"));
  QStringList tables;
  for (int i = 0; i < page.choice().count(); ++i) tables << page.choice().itemData(i).toString();
  for (const char* wanted : {"ops", "kernels", "families", "steps"}) CHECK(tables.contains(wanted));
  page.choice().setCurrentIndex(static_cast<int>(tables.indexOf("ops")));
  int all = page.model().rowCount();
  CHECK(all > 10);
  QLineEdit* filter = page.findChild<QLineEdit*>();
  for (QLineEdit* edit : page.findChildren<QLineEdit*>()) {
    if (edit->accessibleName() == "Filter the changes") filter = edit;
  }
  filter->setText("removed");
  CHECK(page.model().rowCount() > 0);
  CHECK(page.model().rowCount() < all);
  filter->clear();
  CHECK(page.model().rowCount() == all);
}

TEST_CASE("on a small screen the figures of what changed are in sight beside the names") {
  MainWindow& w = window();
  const QSize before = w.size();
  w.resize(1024, 700);
  QApplication::processEvents();
  const QTableView& table = w.compare().table();
  REQUIRE(w.compare().model().columnCount() > 4);
  // A, B and B − A.
  for (int column = 1; column <= 3; ++column) {
    CAPTURE(column);
    CHECK(table.columnViewportPosition(column) + table.columnWidth(column) <=
          table.viewport()->width());
  }
  w.resize(before);
  QApplication::processEvents();
  int all = 0;
  for (int column = 0; column < w.compare().model().columnCount(); ++column)
    all += table.columnWidth(column);
  CHECK(all >= table.viewport()->width());
}

TEST_CASE("the step above a timeline is the device's and says so beside the host's ribbon") {
  QStringList titles;
  for (WrapLabel* label : window().compare().timelines().findChildren<WrapLabel*>())
    titles << label->text();
  CHECK(titles.filter("on the device, ").size() == 2);
}

TEST_CASE("the steps stand above each other and both rulers count from their starts") {
  CompareTimelines& timelines = window().compare().timelines();
  const SessionPair& pair = *window().compare().pair();
  CHECK(timelines.steps() == pair.median_steps());
  CHECK(misalignment(timelines) <= 1);
  for (Side side : {Side::kA, Side::kB}) {
    TimelineView& view = timelines.view(side);
    Interval step = pair.interval(side, timelines.steps());
    CHECK(view.frame().origin == step.begin);
    CHECK(view.mapping().visible().begin <= step.begin);
    CHECK(view.mapping().visible().end >= step.end);
  }
}

TEST_CASE("zoom and movement of either timeline are those of both, to the pixel") {
  CompareTimelines& timelines = window().compare().timelines();
  timelines.show_steps(timelines.steps());
  for (Side side : {Side::kA, Side::kB}) {
    TimelineView& view = timelines.view(side);
    for (int notches : {3, 8, 12, -4, 20}) {
      wheel(view, 300, notches);
      CHECK(misalignment(timelines) <= 1 + view.mapping().ns_per_pixel());
    }
    for (Command command : {Command::kPanLeft, Command::kPanRight, Command::kZoomOut,
                            Command::kFitAll, Command::kBack}) {
      view.run(command);
      CHECK(misalignment(timelines) <= 1 + view.mapping().ns_per_pixel());
    }
  }
  timelines.show_steps(timelines.steps());
}

TEST_CASE("the names of one timeline made wider are made wider in the other") {
  CompareTimelines& timelines = window().compare().timelines();
  TimelineView& a = timelines.view(Side::kA);
  QWidget* area = a.viewport();
  const int gutter = a.frame().gutter;
  const int y = a.frame().header_height() + 20;
  QTest::mousePress(area, Qt::LeftButton, {}, {gutter, y});
  QTest::mouseMove(area, {gutter + 30, y});
  QTest::mouseMove(area, {gutter + 60, y});
  QTest::mouseRelease(area, Qt::LeftButton, {}, {gutter + 60, y});
  CHECK(a.frame().gutter == gutter + 60);
  CHECK(timelines.view(Side::kB).frame().gutter == gutter + 60);
  CHECK(misalignment(timelines) <= 1 + a.mapping().ns_per_pixel());
}

TEST_CASE("the steps can be chosen together and apart") {
  CompareTimelines& timelines = window().compare().timelines();
  timelines.show_steps(StepPair{4, 6});
  auto press = [&](const QString& name) {
    for (QToolButton* one : timelines.findChildren<QToolButton*>()) {
      if (one->accessibleName() == name) one->click();
    }
  };
  press("The next step on both sides");
  CHECK(timelines.steps() == std::optional(StepPair{5, 7}));
  press("The step before on both sides");
  press("The step before on both sides");
  CHECK(timelines.steps() == std::optional(StepPair{3, 5}));
  StepBox* box = timelines.findChildren<StepBox*>()[1];
  box->selectAll();
  QTest::keyClicks(box, "20");
  QTest::keyClick(box, Qt::Key_Return);
  REQUIRE(timelines.steps());
  CHECK(window().compare().pair()->bars(Side::kB)[timelines.steps()->b].number == 20);
  CHECK(timelines.steps()->a == 3);
  QTest::keyClicks(box, "nonsense");
  QTest::keyClick(box, Qt::Key_Return);
  CHECK(timelines.steps()->a == 3);
  press("The steady steps of median length");
  CHECK(timelines.steps() == window().compare().pair()->median_steps());
}

TEST_CASE("a row of the ops is shown in both timelines, one that is only in one of them there") {
  MainWindow& w = window();
  ComparePage& page = w.compare();
  page.choice().setCurrentIndex(page.choice().findData("ops"));
  const analyzer::Table& table = page.model().table();
  int removed = 0;
  int in_both = 0;
  for (int row = 0; row < std::min(30, page.model().rowCount()); ++row) {
    QModelIndex index = page.model().index(row, 0);
    page.table().scrollTo(index);
    QTest::mouseClick(page.table().viewport(), Qt::LeftButton, {},
                      page.table().visualRect(index).center());
    const auto& cells = table.rows[page.model().source_row(row)];
    const std::string& state = std::get<std::string>(cells.back());
    TimelineView& a = page.timelines().view(Side::kA);
    TimelineView& b = page.timelines().view(Side::kB);
    CHECK(static_cast<bool>(a.selection()) == (state != "added"));
    CHECK(static_cast<bool>(b.selection()) == (state != "removed"));
    removed += state == "removed";
    in_both += a.selection() && b.selection();
    CHECK(misalignment(page.timelines()) <= 1 + a.mapping().ns_per_pixel());
    for (TimelineView* view : {&a, &b}) {
      if (!view->selection()) continue;
      QRectF box = *box_of(view->frame(), view->selection());
      CHECK(view->frame().area_rect().contains(box.center().toPoint()));
    }
  }
  CHECK(in_both > 5);
  page.choice().setCurrentIndex(page.choice().findData("steps"));
  QTest::mouseClick(page.table().viewport(), Qt::LeftButton, {},
                    page.table().visualRect(page.model().index(0, 0)).center());
  auto number = std::get<std::int64_t>(page.model().table().rows[0][0]);
  CHECK(page.timelines().steps() == page.pair()->steps_numbered(number));
}

TEST_CASE("what is selected in one timeline is selected in the other") {
  MainWindow& w = window();
  ComparePage& page = w.compare();
  page.timelines().show_steps(page.pair()->median_steps());
  Target in_a = page.pair()->place_of(Side::kA, "kernels", 0, page.timelines().steps());
  REQUIRE(in_a);
  page.timelines().view(Side::kA).select(in_a, true);
  CHECK(page.timelines().view(Side::kB).selection() ==
        page.pair()->counterpart(Side::kA, in_a, page.timelines().steps()));
  page.timelines().view(Side::kA).select({}, false);
  CHECK(!page.timelines().view(Side::kB).selection());
}

TEST_CASE("a class of the waterfall is shown in both timelines, by mouse and by keyboard") {
  MainWindow& w = window();
  ComparePage& page = w.compare();
  page.timelines().show_steps(page.pair()->median_steps());
  ChangeWaterfall& waterfall = page.waterfall();
  std::size_t decode = 0;
  const std::vector<ClassChange> shown = page.pair()->changed_classes();
  while (shown.at(decode).time_class != analyzer::TimeClass::kDecode) ++decode;
  QTest::mouseClick(&waterfall, Qt::LeftButton, {},
                    {40, static_cast<int>(decode + 1) * waterfall.row_height() + 5});
  Target selected = page.timelines().view(Side::kA).selection();
  REQUIRE(selected.kind == Target::Kind::kSegment);
  CHECK(page.pair()->session(Side::kA).analysis.partitions[0].segments[selected.index].time_class ==
        analyzer::TimeClass::kDecode);
  page.timelines().view(Side::kA).select({}, false);
  waterfall.setFocus();
  QTest::keyClick(&waterfall, Qt::Key_Down);
  QTest::keyClick(&waterfall, Qt::Key_Return);
  Target first = page.timelines().view(Side::kA).selection();
  REQUIRE(first.kind == Target::Kind::kSegment);
  CHECK(page.pair()->session(Side::kA).analysis.partitions[0].segments[first.index].time_class ==
        shown[0].time_class);
}

TEST_CASE("the second trace is opened by drop and freed when it is closed") {
  auto w = test::open_window(test::training_file());
  w->show_page(Page::kCompare);
  CHECK(w->compare().message().contains("drop a file here"));
  CHECK(w->compare().message().contains("\n\n"));
  CHECK(!w->compare().message().contains(QChar::ReplacementCharacter));
  CHECK(!drop(w->compare(), {QUrl("https://example.com/b.sqlite")}));
  CHECK(drop(w->compare(), {url(test::faster_file())}));
  REQUIRE(wait_for_pair(*w));
  std::weak_ptr<const Session> second = w->compare().pair()->sessions[1];
  std::weak_ptr<const Session> first = w->compare().pair()->sessions[0];
  CHECK(!second.expired());
  QPushButton* close = button(w->compare(), "Close B");
  REQUIRE(close);
  close->click();
  QApplication::processEvents();
  CHECK(second.expired());
  CHECK(!first.expired());
  CHECK(!w->compare().pair());
  CHECK(w->compare().message().contains("drop a file here"));
}

TEST_CASE("two dropped files are compared, and a new first trace closes the second") {
  test::application();
  MainWindow w(false);
  w.show();
  REQUIRE(drop(w, {url(test::training_file()), url(test::faster_file())}));
  REQUIRE(wait_for_pair(w));
  CHECK(w.page() == Page::kCompare);
  CHECK(w.compare().verdict().startsWith("B is faster"));
  std::weak_ptr<const Session> first = w.compare().pair()->sessions[0];
  std::weak_ptr<const Session> second = w.compare().pair()->sessions[1];
  w.open(test::faster_file());
  REQUIRE(test::wait_until([&] { return w.session() && w.session() != first.lock(); }));
  CHECK(!w.compare().pair());
  CHECK(test::wait_until([&] { return first.expired() && second.expired(); }));
}

TEST_CASE("a second trace that cannot be opened is told in words, and another can be") {
  test::TemporaryFolder folder;
  std::ofstream(folder / "notes.txt") << "not a trace";
  auto w = test::open_window(test::training_file());
  w->compare_with(folder / "notes.txt");
  REQUIRE(test::wait_until([&] { return w->compare().message().contains("notes.txt"); }));
  REQUIRE(test::wait_until([&] { return button(w->compare(), "second trace"); }));
  CHECK(w->session());
  w->compare_with(test::faster_file());
  CHECK(wait_for_pair(*w));
}

TEST_CASE(
    "opening the second trace can be cancelled, replaced and survives the end of the window") {
  auto w = test::open_window(test::training_file());
  w->compare_with(test::long_file());
  QPushButton* cancel = button(w->compare(), "Cancel");
  REQUIRE(cancel);
  cancel->click();
  QTest::qWait(50);
  CHECK(!w->compare().pair());
  CHECK(w->compare().message().contains("drop a file here"));
  for (int i = 0; i < 4; ++i) w->compare_with(test::faster_file());
  CHECK(wait_for_pair(*w));
  w->compare_with(test::faster_file());  // and the window is destroyed while it loads
}

TEST_CASE("a first trace that has grown is compared anew, at the steps that were chosen") {
  test::application();
  ComparePage page;
  page.resize(1200, 700);
  page.show();
  page.set_session(test::training_session());
  page.open_second(test::faster_file(), {});
  REQUIRE(test::wait_until([&] { return page.pair() != nullptr; }));
  page.timelines().show_steps(StepPair{7, 9});
  std::shared_ptr<const Session> later = open_session(test::training_file());
  page.update_session(later);
  CHECK(page.pair());
  REQUIRE(test::wait_until([&] { return page.pair()->sessions[0] == later; }));
  CHECK(page.timelines().steps() == std::optional(StepPair{7, 9}));
}

TEST_CASE("every kind of trace can be the second one") {
  test::TraceBuilder nothing;
  test::TraceBuilder host;
  host.range(1, "work", 10, 500);
  test::TraceBuilder hostile;
  test::build_hostile(hostile, 20);
  auto w = test::open_window(test::training_file());
  for (test::TraceBuilder* builder : {&nothing, &host, &hostile}) {
    w->compare_with(builder->save());
    REQUIRE(test::wait_until([&] {
      return w->compare().pair() &&
             w->compare().pair()->session(Side::kB).trace.path == builder->save().string();
    }));
    CHECK(w->compare().verdict().startsWith("Inconclusive"));
    QApplication::processEvents();
    CHECK(test::count_colors(w->grab().toImage()) > 30);
    for (QLabel* label : w->findChildren<QLabel*>())
      CHECK((label->text().isEmpty() || label->textFormat() == Qt::PlainText));
  }
}

}  // namespace headway::gui
