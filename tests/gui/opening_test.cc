// SPDX-License-Identifier: MIT
// How traces come into the window: in two stages, while they are being recorded, in part.
#include <doctest/doctest.h>

#include <QListWidget>
#include <QPushButton>
#include <QScrollBar>

#include "gui/pages/labels.h"
#include "gui/pages/main_window.h"
#include "gui/pages/start_page.h"
#include "gui/pages/timeline_page.h"
#include "gui/pages/waiting_page.h"
#include "tests/gui/support/application.h"
#include "tests/gui/support/sessions.h"
#include "tests/support/trace_builder.h"
#include "trace/tables/all.h"

namespace headway::gui {
namespace {

OpenRequest request_for(const std::filesystem::path& file) {
  OpenRequest request;
  request.source.files = {file};
  return request;
}

std::unique_ptr<MainWindow> shown_window() {
  test::application();
  auto window = std::make_unique<MainWindow>(false);
  window->resize(1280, 800);
  window->show();
  return window;
}

QPushButton* button(QWidget& parent, const QString& start) {
  for (QPushButton* one : parent.findChildren<QPushButton*>()) {
    if (one->isVisible() && one->text().remove(QLatin1Char('&')).startsWith(start)) return one;
  }
  return nullptr;
}

QString headline(MainWindow& window) {
  return window.findChild<LinkLabel*>(QStringLiteral("headline"))->text();
}

}  // namespace

TEST_CASE("the timeline can be used before the analysis is done, and stays where it is") {
  auto window = shown_window();
  OpenRequest request = request_for(test::training_file());
  request.source.first_look_from = 1;
  bool looked = false;
  bool opened = false;
  Interval view;
  Target selected;
  QObject::connect(window.get(), &MainWindow::opened, [&] { opened = true; });
  QObject::connect(window.get(), &MainWindow::looked, [&] {
    looked = true;
    CHECK(!opened);
    CHECK(!window->session()->analysed);
    CHECK(window->page() == Page::kTimeline);
    CHECK(headline(*window).startsWith("Analysing"));
    // A page of findings waits, and says so.
    window->show_page(Page::kFindings);
    WaitingPage* waiting = window->findChild<WaitingPage*>();
    REQUIRE(waiting);
    CHECK(waiting->isVisibleTo(window.get()));
    CHECK(window->page() == Page::kFindings);
    window->show_page(Page::kTimeline);
    TimelineView& timeline = window->timeline().view();
    Interval all = window->session()->timeline.bounds;
    timeline.show_interval({all.begin + all.length() / 3, all.begin + all.length() / 2});
    selected = Target::of(test::event_named(window->session()->trace, "step"));
    timeline.select(selected, true);
    timeline.show_interval({all.begin + all.length() / 3, all.begin + all.length() / 2});
    view = timeline.mapping().visible();
  });
  window->open(request);
  REQUIRE(test::wait_until([&] { return opened; }));
  CHECK(looked);
  CHECK(window->session()->analysed);
  CHECK(window->page() == Page::kTimeline);
  CHECK(window->timeline().view().mapping().visible() == view);
  CHECK(window->timeline().view().selection() == selected);
  CHECK(headline(*window).startsWith("Input-bound"));
  window->show_page(Page::kFindings);
  CHECK(!window->findChild<WaitingPage*>()->isVisibleTo(window.get()));
}

TEST_CASE("the analysis can be cancelled and made after all") {
  auto window = shown_window();
  OpenRequest request = request_for(test::training_file());
  request.source.first_look_from = 1;
  int opened = 0;
  bool cancel = true;
  QObject::connect(window.get(), &MainWindow::opened, [&] { ++opened; });
  QObject::connect(window.get(), &MainWindow::looked, [&] {
    if (!std::exchange(cancel, false)) return;
    REQUIRE(button(*window, "Cancel"));
    button(*window, "Cancel")->click();
  });
  window->open(request);
  REQUIRE(test::wait_until([&] { return button(*window, "Analyse") != nullptr; }));
  CHECK(opened == 0);
  window->show_page(Page::kSummary);
  CHECK(window->findChild<WaitingPage*>()->isVisibleTo(window.get()));
  button(*window, "Analyse")->click();
  REQUIRE(test::wait_until([&] { return opened == 1; }));
  CHECK(window->session()->analysed);
  CHECK(!button(*window, "Analyse"));
}

TEST_CASE("folds and scroll stay when rows come above") {
  auto window = shown_window();
  OpenRequest request = request_for(test::training_file());
  request.source.first_look_from = 1;
  bool opened = false;
  RowId thread;
  QObject::connect(window.get(), &MainWindow::opened, [&] { opened = true; });
  QObject::connect(window.get(), &MainWindow::looked, [&] {
    TimelineView& view = window->timeline().view();
    const TimelineModel& model = window->session()->timeline;
    for (std::uint32_t i = 0; i < model.rows.size() && !thread.valid(); ++i) {
      if (model.rows[i].kind == RowKind::kThread && model.rows[i].lanes.size() > 1)
        thread = RowId{i};
    }
    REQUIRE(thread.valid());
    CHECK(!view.layout().is_folded(thread));
    view.select(Target{}, false);
    view.run(Command::kFoldAll);
    CHECK(view.layout().is_folded(thread));
  });
  window->open(request);
  REQUIRE(test::wait_until([&] { return opened; }));
  const RowLayout& layout = window->timeline().view().layout();
  const TimelineModel& model = window->session()->timeline;
  for (std::uint32_t i = 0; i < model.rows.size(); ++i) {
    if (model.rows[i].kind == RowKind::kThread && model.rows[i].lanes.size() > 1)
      CHECK(layout.is_folded(RowId{i}));
  }
}

TEST_CASE("a trace larger than the memory offers a stretch by a button") {
  auto window = shown_window();
  OpenRequest request = request_for(test::training_file());
  request.source.memory_bytes = 50'000;
  bool opened = false;
  QObject::connect(window.get(), &MainWindow::opened, [&] { opened = true; });
  window->open(request);
  REQUIRE(test::wait_until([&] { return !window->start().error().isEmpty(); }));
  CHECK(window->start().error().contains("--load-range"));
  QPushButton* stretch = button(*window, "Open 0");
  REQUIRE(stretch);
  stretch->click();
  REQUIRE(test::wait_until([&] { return opened; }));
  CHECK(window->session()->trace.losses.at(0).name == "loaded_in_part");
}

TEST_CASE("follow: the timeline grows with the recording, until the user moves away") {
  test::TemporaryFolder folder;
  std::filesystem::path file = folder / "growing run.sqlite";
  auto window = shown_window();
  int grown = 0;
  bool opened = false;
  QObject::connect(window.get(), &MainWindow::opened, [&] { opened = true; });
  QObject::connect(window.get(), &MainWindow::grown, [&] { ++grown; });
  OpenRequest request = request_for(file);
  request.follow = true;
  window->open(request);  // before there is a file
  QApplication::processEvents();
  trace::TraceWriter writer(file, false);
  writer.set_meta("state", "recording");
  const std::int64_t tid = (std::int64_t{100} << 24) | 1;
  const trace::StringId step = writer.intern("step");
  std::int64_t time = 0;
  auto record = [&](int steps) {
    for (int i = 0; i < steps; ++i, time += 1'000'000) {
      trace::tables::NvtxEvents::Row row;
      row.start = time;
      row.end = time + 900'000;
      row.event_type = 59;
      row.global_tid = tid;
      row.text_id = step;
      writer.add<trace::tables::NvtxEvents>(row);
    }
    writer.commit();
  };
  record(20);
  REQUIRE(test::wait_until([&] { return opened; }));
  CHECK(window->session()->recording);
  CHECK(window->page() == Page::kTimeline);
  CHECK(headline(*window).startsWith("Recording"));
  TimelineView& view = window->timeline().view();
  auto events = [&] { return window->session()->trace.ranges.size(); };
  CHECK(events() == 20);
  auto thread_label = [&] {
    const TimelineModel& model = *view.frame().model;
    for (const Row& row : model.rows) {
      if (row.kind == RowKind::kThread) return row.label;
    }
    return std::string();
  };
  CHECK(thread_label() == "Thread 1");
  // The program names its thread after its first events.
  trace::tables::ThreadNames::Row named;
  named.name_id = writer.intern("loader 0");
  named.global_tid = tid;
  writer.add<trace::tables::ThreadNames>(named);
  // The whole trace is in sight, and stays in sight.
  record(20);
  REQUIRE(test::wait_until([&] { return events() == 40; }));
  CHECK(thread_label() == "loader 0");
  CHECK(view.mapping().visible().end >= window->session()->timeline.bounds.end);
  CHECK(view.mapping().visible().begin <= window->session()->timeline.bounds.begin);
  // The end is in sight: it stays, at the same scale.
  TimeNs end = window->session()->timeline.bounds.end;
  view.show_interval({end - DurationNs{5'000'000}, end});
  double scale = view.mapping().ns_per_pixel();
  record(20);
  REQUIRE(test::wait_until([&] { return events() == 60; }));
  CHECK(view.mapping().ns_per_pixel() == doctest::Approx(scale));
  CHECK(view.mapping().visible().end >= window->session()->timeline.bounds.end);
  CHECK(view.mapping().visible().begin > end);
  // The user looks at something earlier: the view does not move.
  view.show_interval({{10'000'000}, {15'000'000}});
  Interval there = view.mapping().visible();
  Target selected = Target::of(analyzer::EventRef::of(trace::RangeId{12}));
  view.select(selected, false);
  record(20);
  REQUIRE(test::wait_until([&] { return events() == 80; }));
  CHECK(view.mapping().visible() == there);
  CHECK(view.selection() == selected);
  writer.finish();
  REQUIRE(test::wait_until([&] { return !window->session()->recording; }));
  CHECK(headline(*window).startsWith("The recording has ended"));
  CHECK(view.mapping().visible() == there);
  CHECK(grown >= 4);
}

TEST_CASE("a recording can be read while it is written without harm to its end") {
  test::TemporaryFolder folder;
  std::filesystem::path file = folder / "run.sqlite";
  trace::TraceWriter writer(file, false);
  writer.set_meta("state", "recording");
  writer.add<trace::tables::SessionStart>({1, "", {}, 0});
  writer.commit();
  // A reader in the middle of a query, which lets go half a second later.
  auto reader =
      std::make_unique<trace::sqlite::Database>(trace::sqlite::Database::open_read_only(file));
  auto statement =
      std::make_unique<trace::sqlite::Statement>(reader->prepare("SELECT name FROM sqlite_master"));
  REQUIRE(statement->step());
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    statement.reset();
    reader.reset();
  });
  writer.finish();
  later.join();
  CHECK(!std::filesystem::exists(file.string() + "-wal"));
  CHECK(trace::sqlite::Database::open_read_only(file).has_table("HEADWAY_META"));
}

}  // namespace headway::gui
