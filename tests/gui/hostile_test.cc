// SPDX-License-Identifier: MIT
// Traces made to break the window: every page is visited and used with each of them.
#include <doctest/doctest.h>

#include <QAbstractItemView>
#include <QComboBox>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QWheelEvent>
#include <limits>

#include "gui/pages/compare_page.h"
#include "gui/pages/start_page.h"
#include "gui/pages/timeline_page.h"
#include "gui/timeline/background_task.h"
#include "tests/gui/support/application.h"
#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

// A page that takes longer than this with a few thousand events hangs for its user; sanitizers slow
// it down tenfold.
constexpr qint64 kMostMsAPage = 20'000;

/// The timeline at every scale, everywhere, with its keys.
void use_timeline(TimelineView& view) {
  QPointF at(view.frame().gutter + view.frame().area_width() / 3.0, 140);
  for (int notches : {5, 20, 60, 120, -40, -300}) {
    QWheelEvent event(at, view.viewport()->mapToGlobal(at), {}, {0, 120 * notches}, Qt::NoButton,
                      Qt::NoModifier, Qt::NoScrollPhase, false);
    QApplication::sendEvent(view.viewport(), &event);
    QTest::mouseMove(view.viewport(), at.toPoint());
    view.grab();
  }
  for (int y = view.frame().header_height() + 3; y < view.height(); y += 17)
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, {static_cast<int>(at.x()), y});
  for (Command command :
       {Command::kFitAll, Command::kUnfoldAll, Command::kScrollDown, Command::kNextOnLane,
        Command::kNextSameName, Command::kFollowLink, Command::kZoomToSelection, Command::kPanLeft,
        Command::kPanRight, Command::kFoldAll, Command::kBack, Command::kForward})
    view.run(command);
  view.select_range(view.mapping().visible());
  view.grab();
  view.select_range({});
}

/// Lists, choices and search boxes of a page. Nothing that opens a dialogue.
void use_widgets(QWidget& page) {
  for (QAbstractItemView* view : page.findChildren<QAbstractItemView*>()) {
    if (!view->isVisible()) continue;
    for (Qt::Key key : {Qt::Key_Home, Qt::Key_Down, Qt::Key_Down, Qt::Key_End})
      QTest::keyClick(view, key);
  }
  for (QLineEdit* edit : page.findChildren<QLineEdit*>()) {
    if (!edit->isVisible()) continue;
    edit->setText(QStringLiteral("\u202e<b>x%1\x1b"));
    QApplication::processEvents();
    edit->clear();
  }
  for (QComboBox* box : page.findChildren<QComboBox*>()) {
    for (int i = 0; box->isVisible() && i < std::min(box->count(), 12); ++i)
      box->setCurrentIndex(i);
  }
}

void visit_every_page(const std::filesystem::path& trace) {
  auto w = test::open_window(trace, {1200, 760});
  REQUIRE(w->session());
  for (const PageInfo& one : pages()) {
    CAPTURE(one.id);
    QElapsedTimer timer;
    timer.start();
    w->show_page(one.page);
    CHECK(test::wait_until([] { return !BackgroundTask::any_running(); }));
    QApplication::processEvents();
    CHECK(w->page() == one.page);
    CHECK(test::count_colors(w->grab().toImage()) > 15);
    if (one.page == Page::kTimeline) use_timeline(w->timeline().view());
    use_widgets(w->widget(one.page));
    QApplication::processEvents();
    w->grab();
    CHECK(timer.elapsed() < kMostMsAPage);
  }
  for (QLabel* label : w->findChildren<QLabel*>())
    CHECK((label->text().isEmpty() || label->textFormat() == Qt::PlainText));
}

}  // namespace

TEST_CASE("names of a megabyte, with markup, control characters and letters from right to left") {
  test::TraceBuilder builder;
  test::build_hostile(builder, 20);
  visit_every_page(builder.save());
}

TEST_CASE("ten thousand threads") {
  test::TraceBuilder builder;
  for (int t = 0; t < 10'000; ++t) {
    builder.range(t + 1, "worker", t, t + 10);
    builder.range(t + 1, "inner", t + 2, t + 4);
  }
  visit_every_page(builder.save());
}

TEST_CASE("nothing but events without length, all at one time") {
  test::TraceBuilder builder;
  for (int i = 0; i < 3000; ++i) builder.range(1 + i % 3, "point", 1000, 1000);
  for (int i = 0; i < 300; ++i) builder.launch(1, 1000, 1000, 1000, 1000, {.name = "empty kernel"});
  for (int i = 0; i < 300; ++i) builder.mark(2, "mark", 1000);
  visit_every_page(builder.save());
}

TEST_CASE("events at both ends of what 64 bits hold") {
  constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  test::TraceBuilder builder;
  builder.range(1, "in the middle", 0, 1000);
  builder.range(1, "at the beginning", kFirst, kFirst + 5);
  builder.range(1, "at the end", kLast - 5, kLast);
  builder.range(1, "all of it", kFirst, kLast);
  builder.launch(1, 10, 20, 30, kLast, {.name = "endless"});
  builder.counter("memory", "bytes", kLast, 1);
  builder.counter("memory", "bytes", kFirst, 2);
  visit_every_page(builder.save());
}

TEST_CASE("a training run with no step to be found") {
  test::TraceBuilder builder;
  for (int i = 0; i < 500; ++i)
    builder.launch(1, 1000 * i, 1000 * i + 200, 1000 * i + 400 + i % 7, 1000 * i + 900,
                   {.name = "kernel"});
  builder.range(1, "work", 0, 500'000);
  visit_every_page(builder.save());
}

TEST_CASE("only counters, and counters that never change") {
  test::TraceBuilder builder;
  for (int i = 0; i < 500; ++i) {
    builder.counter("flat", "%", 1000 * i, 0);
    builder.counter("infinite", "bytes", 1000 * i, std::numeric_limits<double>::infinity());
  }
  visit_every_page(builder.save());
}

TEST_CASE("a file cut anywhere opens with what is left of it, or is told in words") {
  test::TemporaryFolder folder;
  const std::uintmax_t size = std::filesystem::file_size(test::training_file());
  for (std::uintmax_t kept : {std::uintmax_t{0}, std::uintmax_t{50}, std::uintmax_t{4096}, size / 3,
                              size / 2, size * 9 / 10, size - 1}) {
    CAPTURE(kept);
    std::filesystem::path file = folder / ("cut " + std::to_string(kept) + ".sqlite");
    std::filesystem::copy_file(test::training_file(), file);
    std::filesystem::resize_file(file, kept);
    test::application();
    MainWindow w(false);
    w.show();
    bool failed = false;
    QObject::connect(&w, &MainWindow::open_failed, [&] { failed = true; });
    w.open(file);
    REQUIRE(test::wait_until([&] { return failed || w.session(); }));
    if (failed) {
      CHECK(w.start().error().contains("cut "));
    } else {
      for (const PageInfo& one : pages()) {
        w.show_page(one.page);
        QApplication::processEvents();
        w.grab();
      }
    }
    // As the second trace of a comparison too.
    auto both = test::open_window(test::training_file());
    bool told = false;
    QObject::connect(&both->compare(), &ComparePage::second_failed, [&] { told = true; });
    both->compare_with(file);
    CHECK(test::wait_until([&] { return told || both->compare().pair(); }));
  }
}

}  // namespace headway::gui
