// SPDX-License-Identifier: MIT
// What the hands can do beyond moving: box zoom, marks, search, places, bookmarks, menu, rows.
#include <doctest/doctest.h>

#include <QAccessible>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QLabel>
#include <QScrollBar>
#include <QToolButton>
#include <cmath>
#include <fstream>

#include "gui/models/timeline/ticks.h"
#include "gui/pages/legend_bar.h"
#include "gui/pages/timeline_page.h"
#include "gui/timeline/hover_card.h"
#include "tests/gui/support/application.h"
#include "tests/gui/support/sessions.h"
#include "tests/support/temporary_folder.h"

namespace headway::gui {
namespace {

struct Hands {
  explicit Hands(std::shared_ptr<const Session> s = test::training_session(),
                 QSize size = {1300, 700}, const std::filesystem::path& folder = {})
      : session(std::move(s)) {
    page.keep_bookmarks_in(folder);
    page.resize(size);
    page.show();
    page.set_session(session);
    QApplication::processEvents();
    view().setFocus();
  }

  TimelineView& view() { return page.view(); }
  const TimelineModel& model() const { return session->timeline; }
  void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(&view(), key, modifiers);
  }
  QPoint area(int x, int y) {
    return {view().frame().gutter + x, view().frame().header_height() + y};
  }
  void move(QPoint to, Qt::MouseButtons buttons = Qt::NoButton) {
    QMouseEvent event(QEvent::MouseMove, to, view().viewport()->mapToGlobal(to), Qt::NoButton,
                      buttons, Qt::NoModifier);
    QApplication::sendEvent(view().viewport(), &event);
  }
  void drag(QPoint from, QPoint to, Qt::MouseButton button,
            Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::mousePress(view().viewport(), button, modifiers, from);
    move((from + to) / 2, button);
    move(to, button);
    QTest::mouseRelease(view().viewport(), button, modifiers, to);
  }
  Target named(const char* name) const {
    return Target::of(test::event_named(session->trace, name));
  }
  RowId row(std::string_view label) const {
    for (std::size_t i = 0; i < model().rows.size(); ++i) {
      if (model().rows[i].label == label) return RowId::from(i);
    }
    FAIL("no such row");
    return {};
  }
  /// The middle of a row's name on screen.
  QPoint name_of(RowId id) {
    const RowLayout::Shown& shown = view().layout().shown()[*view().layout().index_of(id)];
    return {60, view().frame().screen_y(shown.y) + 6};
  }
  void search(const QString& text) {
    page.search().search_for(text);
    REQUIRE(test::wait_until([&] { return page.search().search() != nullptr; }));
  }

  QApplication& application = test::application();
  std::shared_ptr<const Session> session;
  TimelinePage page;
};

}  // namespace

TEST_CASE("a box drawn with Ctrl or the right button is what the view shows then") {
  for (Qt::MouseButton button : {Qt::LeftButton, Qt::RightButton}) {
    Hands h;
    TimeNs from = h.view().mapping().time_at(200);
    TimeNs to = h.view().mapping().time_at(400);
    Interval before = h.view().mapping().visible();
    h.drag(h.area(400, 90), h.area(200, 30), button,
           button == Qt::LeftButton ? Qt::ControlModifier : Qt::NoModifier);
    DurationNs pixel{static_cast<std::int64_t>(before.length().ns / h.view().mapping().width()) +
                     2};
    CHECK(std::abs((h.view().mapping().visible().begin - from).ns) <= 1);
    CHECK(std::abs((h.view().mapping().visible().end - to).ns) <= pixel.ns);
    CHECK(!h.page.menu());  // a drag is no click
    h.key(Qt::Key_Backspace);
    CHECK(h.view().mapping().visible().begin == before.begin);
  }
}

TEST_CASE("M marks, snapped to edges, and a second M measures to the nanosecond") {
  Hands h;
  Target one = h.named("wait for batch");
  Interval when = h.model().interval_of(one);
  h.view().jump_to(one, {when.begin - when.length(), when.end + when.length()});
  h.view().select({}, false);
  QRectF box = *box_of(h.view().frame(), one);
  h.move({static_cast<int>(box.left()) + 4, static_cast<int>(box.center().y())});
  h.key(Qt::Key_M);
  CHECK(h.view().overlay().measure.first() == when.begin);
  h.move({static_cast<int>(box.right()) - 3, static_cast<int>(box.center().y())});
  CHECK(h.view().overlay().measured_to == when.end);
  h.key(Qt::Key_M);
  REQUIRE(h.view().overlay().measure.span());
  CHECK(h.view().overlay().measure.span()->length() == when.length());
  h.view().viewport()->repaint();
  h.key(Qt::Key_Escape);
  CHECK(!h.view().overlay().measure);
}

TEST_CASE("without a pointer M takes the start of the selection and then its end") {
  Hands h;
  h.view().select(h.named("multi_tensor_sgd"), true);
  h.key(Qt::Key_M);
  h.key(Qt::Key_M);
  CHECK(h.view().overlay().measure.span() == h.model().interval_of(h.view().selection()));
}

TEST_CASE("Ctrl+G goes to times, steps and shares, and explains what it does not understand") {
  Hands h;
  h.view().run(Command::kZoomIn);
  h.key(Qt::Key_G, Qt::ControlModifier);
  REQUIRE(h.page.go_to().isVisible());
  QLineEdit& edit = h.page.go_to().edit();
  edit.setText("1.25s");
  QTest::keyClick(&edit, Qt::Key_Return);
  CHECK(!h.page.go_to().isVisible());
  double middle = h.view().mapping().x_of({1'250'000'000});
  CHECK(std::abs(middle - h.view().mapping().width() / 2.0) <= 2);
  h.page.run(Command::kGoTo);
  edit.setText("step 7");
  QTest::keyClick(&edit, Qt::Key_Return);
  REQUIRE(h.view().selection().kind == Target::Kind::kStep);
  CHECK(h.session->analysis.steps.all[h.view().selection().index].number == 7);
  Interval visible = h.view().mapping().visible();
  h.page.run(Command::kGoTo);
  edit.setText("next Tuesday");
  QTest::keyClick(&edit, Qt::Key_Return);
  CHECK(h.page.go_to().isVisible());
  CHECK(h.page.go_to().message().contains("expected a time"));
  QTest::keyClick(&edit, Qt::Key_Escape);
  CHECK(!h.page.go_to().isVisible());
  CHECK(h.view().mapping().visible() == visible);
}

TEST_CASE("search marks its hits, counts them, and a broken pattern is explained") {
  Hands h;
  h.page.search().set_regex(true);
  h.search("^layer[0-9]+\\.0\\.conv1$");
  std::size_t expected = 0;
  auto count = [&](const auto& table, bool ops) {
    for (std::size_t i = 0; i < table.size(); ++i) {
      auto fits = [](std::string_view name) {
        return name.size() == 14 && name.starts_with("layer") && name.ends_with(".0.conv1") &&
               name[5] >= '0' && name[5] <= '9';
      };
      const analyzer::Attribution& attribution = h.session->analysis.attribution;
      expected += fits(h.session->trace.strings[table.name[i]]) ||
                  (ops && attribution.op_of[i].value &&
                   fits(attribution.ops[attribution.op_of[i].value].name));
    }
  };
  count(h.session->trace.ranges, false);
  count(h.session->trace.calls, false);
  count(h.session->trace.device_ops, true);
  REQUIRE(expected > 0);
  CHECK(h.page.search().search()->hits() == expected);
  REQUIRE(h.page.search().marks());
  // The picture shows them, on rows and in the overview.
  const QImage& image = h.view().render_frame();
  const QRgb hit = h.view().frame().theme->hit.rgb();
  int on_rows = 0;
  int in_overview = 0;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      if ((image.pixel(x, y) | 0xff000000) != hit) continue;
      ++(y < h.view().frame().overview_height() ? in_overview : on_rows);
    }
  }
  CHECK(on_rows > 10);
  CHECK(in_overview > 10);
  h.page.search().search_for("layer[");
  CHECK(h.page.search().status().startsWith("Not a regular expression: "));
  CHECK(h.page.search().status().contains("at character"));
  CHECK(!h.page.search().marks());
  QApplication::processEvents();
  h.page.search().go(true);  // nothing to go to
}

TEST_CASE("E finds one name, on the rows that have it, and all rows come back") {
  Hands h;
  const std::size_t rows = h.view().layout().shown().size();
  h.view().select(h.named("multi_tensor_sgd"), true);
  h.key(Qt::Key_E);
  REQUIRE(test::wait_until([&] { return h.page.search().marks() != nullptr; }));
  CHECK(h.view().layout().shown().size() < rows);
  CHECK(h.view().layout().hidden() > 0);
  CHECK(h.page.hidden_rows().isVisible());
  CHECK(h.page.hidden_rows().text().contains("rows hidden"));
  for (const RowLayout::Shown& shown : h.view().layout().shown()) {
    // A row is there for what was found on it or below it.
    std::size_t hits = 0;
    for (std::uint32_t r = 0; r <= h.model().row(shown.row).descendants; ++r)
      hits += h.page.search().marks()->in_row({shown.row.value + r});
    CHECK(hits > 0);
  }
  h.key(Qt::Key_H, Qt::ShiftModifier);
  CHECK(h.view().layout().shown().size() == rows);
  CHECK(!h.page.hidden_rows().isVisible());
}

TEST_CASE("rows are gone to, pinned, moved, hidden, filtered and shown again by keys alone") {
  Hands h(test::training_session(), {1300, 420});
  h.key(Qt::Key_Down);
  CHECK(h.view().current_row() == RowId{0});
  for (int i = 0; i < 3; ++i) h.key(Qt::Key_Down);
  CHECK(h.view().current_row() == h.row("Stream 2"));
  h.key(Qt::Key_Up, Qt::ShiftModifier);
  CHECK(*h.view().layout().index_of(h.row("Stream 2")) <
        *h.view().layout().index_of(h.row("Stream 1")));
  h.key(Qt::Key_T);
  CHECK(h.view().layout().is_pinned(h.row("Stream 2")));
  CHECK(h.view().frame().sticky_height() > 0);
  // A pinned row stays when the others scroll.
  const int y = h.view().frame().screen_y(0);
  h.view().verticalScrollBar()->setValue(h.view().verticalScrollBar()->maximum());
  CHECK(h.view().frame().screen_y(0) == y);
  CHECK(h.view().hit({10, y + 3}).row == h.row("Stream 2"));
  h.key(Qt::Key_T);
  CHECK(!h.view().layout().is_pinned(h.row("Stream 2")));
  h.view().set_current_row(h.row("trainer"));
  h.key(Qt::Key_H);
  CHECK(!h.view().layout().index_of(h.row("trainer")));
  CHECK(h.view().current_row().valid());
  h.key(Qt::Key_R);
  CHECK(h.page.row_filter().hasFocus());
  QTest::keyClicks(&h.page.row_filter(), "loader");
  CHECK(h.view().layout().index_of(h.row("loader 1")));
  CHECK(!h.view().layout().index_of(h.row("Stream 1")));
  QTest::keyClick(&h.page.row_filter(), Qt::Key_Escape);
  CHECK(h.view().layout().index_of(h.row("Stream 1")));
  h.view().run(Command::kShowAllRows);
  CHECK(h.view().layout().hidden() == 0);
  // Into the row and along it.
  h.view().select({}, false);
  h.view().set_current_row(h.row("Stream 1"));
  h.key(Qt::Key_Right, Qt::ControlModifier);
  CHECK(h.view().selection().event.kind == analyzer::EventRef::Kind::kDeviceOp);
}

TEST_CASE("a row is dragged by its name to another place among its siblings") {
  Hands h;
  RowId one = h.row("Stream 1");
  RowId two = h.row("Stream 2");
  h.drag(h.name_of(one), h.name_of(two), Qt::LeftButton);
  CHECK(*h.view().layout().index_of(two) < *h.view().layout().index_of(one));
  h.drag(h.name_of(one), h.name_of(h.row("trainer")), Qt::LeftButton);  // no sibling: stays
  CHECK(*h.view().layout().index_of(two) + 1 == *h.view().layout().index_of(one));
  CHECK(h.view().overlay().drop_y == -1);
}

TEST_CASE("a jump shows a row that was hidden or filtered out") {
  Hands h;
  h.view().hide(h.row("Stream 1"));
  h.page.row_filter().setText("loader");
  Target kernel = h.named("multi_tensor_sgd");
  h.page.show_target(kernel);
  CHECK(h.view().selection() == kernel);
  std::optional<QRectF> box = box_of(h.view().frame(), kernel);
  REQUIRE(box);
  CHECK(h.view().viewport()->rect().contains(box->center().toPoint()));
}

TEST_CASE("bookmarks are kept beside, come back with their notes and lead to their places") {
  test::TemporaryFolder folder;
  const std::filesystem::path trace = folder.path() / "run.sqlite";
  const std::filesystem::path beside = folder.path() / "run.headway-notes.json";
  std::filesystem::copy_file(test::training_file(), trace);
  const std::shared_ptr<const Session> session = open_session(trace);
  std::filesystem::file_time_type written = std::filesystem::last_write_time(trace);
  {
    Hands h(session, {1300, 700}, folder.path() / "notes");
    h.view().select(h.named("multi_tensor_sgd"), true);
    h.key(Qt::Key_B);
    h.view().select_range({{1'000'000'000}, {1'200'000'000}});
    h.key(Qt::Key_B);
    REQUIRE(h.page.bookmarks().bookmarks().all().size() == 2);
    int range = h.page.bookmarks().bookmarks().all()[0].when.length().ns == 200'000'000 ? 0 : 1;
    h.page.bookmarks().list().topLevelItem(range)->setText(3, "slow\nhere");
    h.view().viewport()->repaint();
  }
  Hands h(session, {1300, 700}, folder.path() / "notes");
  const std::vector<Bookmark>& all = h.page.bookmarks().bookmarks().all();
  REQUIRE(all.size() == 2);
  std::size_t range = all[0].when.length().ns == 200'000'000 ? 0 : 1;
  CHECK(all[range].note == "slow\nhere");
  CHECK(all[1 - range].note == "multi_tensor_sgd");
  h.key(Qt::Key_F);
  emit h.page.bookmarks().list().itemActivated(
      h.page.bookmarks().list().topLevelItem(static_cast<int>(range)), 0);
  Interval visible = h.view().mapping().visible();
  CHECK(visible.begin <= all[range].when.begin);
  CHECK(visible.end >= all[range].when.end);
  CHECK(visible.length().ns < 1'000'000'000);
  h.view().show_interval({{0}, {1000}});
  h.key(Qt::Key_Period);
  CHECK(intersect(h.view().mapping().visible(), all[0].when).length().ns >= 0);
  CHECK(h.view().mapping().visible().begin.ns > 1000);
  h.page.bookmarks().list().setCurrentItem(h.page.bookmarks().list().topLevelItem(0));
  QTest::keyClick(&h.page.bookmarks().list(), Qt::Key_Delete);
  CHECK(h.page.bookmarks().bookmarks().all().size() == 1);
  CHECK(std::filesystem::last_write_time(trace) == written);
  CHECK(std::filesystem::exists(beside));
  CHECK(
      !std::filesystem::exists(folder.path() / "notes" / (identity_of(session->trace) + ".json")));
  // Where there is no writing beside the trace, what is noted is kept elsewhere, and that is said.
  std::filesystem::remove(beside);
  std::filesystem::create_directory(beside);
  {
    Hands refused(session, {1300, 700}, folder.path() / "notes");
    refused.key(Qt::Key_B);
    CHECK(refused.page.bookmarks().bookmarks().all().size() == 1);
    CHECK(refused.page.bookmarks().status().contains("notes"));
  }
  CHECK(Hands(session, {1300, 700}, folder.path() / "notes")
            .page.bookmarks()
            .bookmarks()
            .all()
            .size() == 1);
}

TEST_CASE("a damaged file of bookmarks is told of, and the window opens all the same") {
  test::TemporaryFolder folder;
  std::filesystem::path file =
      folder.path() / (identity_of(test::training_session()->trace) + ".txt");
  std::ofstream(file) << "headway bookmarks 1\n100\t100\tkept\n\x01\x02 rubbish\n";
  Hands h(test::training_session(), {1300, 700}, folder.path());
  CHECK(h.page.bookmarks().bookmarks().all().size() == 1);
  CHECK(h.page.bookmarks().status().contains("1 lines of"));
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  Hands again(test::training_session(), {1300, 700}, folder.path());
  CHECK(again.page.bookmarks().status().contains(QString::fromStdString(file.filename().string())));
}

TEST_CASE("the critical path is shown on its rows with its steps from row to row") {
  Hands h;
  h.key(Qt::Key_C);
  REQUIRE(test::wait_until([&] { return h.view().relations() != nullptr; }));
  REQUIRE(h.view().frame().path);
  const auto& pieces = h.session->analysis.critical_path.pieces;
  std::size_t middle = pieces.size() / 2;
  h.view().show_interval({pieces[middle - 10].interval.begin, pieces[middle + 10].interval.end});
  const QRgb color = h.view().frame().theme->path.rgb();
  auto painted = [&](const QImage& image) {
    int count = 0;
    for (int y = h.view().frame().header_height(); y < image.height(); ++y) {
      for (int x = h.view().frame().gutter; x < image.width(); ++x)
        count += (image.pixel(x, y) | 0xff000000) == color;
    }
    return count;
  };
  int bars = painted(h.view().render_frame());
  CHECK(bars > 300);
  QImage all = h.view().viewport()->grab().toImage();
  CHECK(painted(all) > bars);  // and the steps
  h.key(Qt::Key_C);
  CHECK(painted(h.view().render_frame()) == 0);
  CHECK(!h.view().shows_path());
}

TEST_CASE("the links of the selection are drawn when they are found, and followed with G") {
  Hands h(test::two_rank_session());
  Target reduce = Target::of(analyzer::EventRef::of(trace::DeviceOpId{2}));
  h.view().select(reduce, true);
  CHECK(h.view().overlay().links.size() == 1);  // the launch, at once
  REQUIRE(test::wait_until([&] { return h.view().relations() != nullptr; }));
  CHECK(h.view().overlay().links.size() > 2);
  CHECK(h.page.details().text().contains("Other rank: rank 1"));
  QImage with = h.view().viewport()->grab().toImage();
  h.view().select({}, false);
  CHECK(with != h.view().viewport()->grab().toImage());
  Target backward = h.named("AddmmBackward0");
  h.view().select(backward, true);
  h.key(Qt::Key_G);
  CHECK(h.view().selection() == Target::of(analyzer::EventRef::of(trace::RangeId{4})));
}

TEST_CASE("the menu of an event, of a row and of the keyboard has what can be done there") {
  Hands h;
  Target kernel = h.named("multi_tensor_sgd");
  h.page.show_target(kernel);
  QPoint at = box_of(h.view().frame(), kernel)->center().toPoint();
  auto texts = [&] {
    QStringList list;
    for (QAction* action : h.page.menu()->actions()) list << action->text().section('\t', 0, 0);
    return list;
  };
  auto trigger = [&](const QString& text) {
    for (QAction* action : h.page.menu()->actions()) {
      if (action->text().section('\t', 0, 0) == text) return action->trigger();
    }
    FAIL("no such entry");
  };
  QTest::mouseClick(h.view().viewport(), Qt::RightButton, {}, at);
  REQUIRE(h.page.menu());
  CHECK(h.view().selection() == kernel);
  for (const char* entry :
       {"Zoom to it", "Show in the op table", "Find the events of this name", "Copy the name",
        "Copy the details", "Copy as SQL", "Bookmark", "Show all rows"})
    CHECK(texts().contains(entry));
  trigger("Copy the name");
  CHECK(QGuiApplication::clipboard()->text() == "multi_tensor_sgd");
  trigger("Copy as SQL");
  CHECK(QGuiApplication::clipboard()->text().startsWith("SELECT *"));
  h.page.menu()->close();
  QTest::mouseClick(h.view().viewport(), Qt::RightButton, {}, h.name_of(h.row("Stream 1")));
  REQUIRE(h.page.menu());
  trigger(QStringLiteral("Hide row “Stream 1”"));
  CHECK(!h.view().layout().index_of(h.row("Stream 1")));
  h.page.menu()->close();
  h.view().show_all_rows();
  h.view().select(kernel, true);
  QContextMenuEvent event(QContextMenuEvent::Keyboard, {1, 1}, h.view().mapToGlobal(QPoint(1, 1)));
  QApplication::sendEvent(h.view().viewport(), &event);
  REQUIRE(h.page.menu());
  CHECK(texts().contains("Zoom to it"));
  bool told = false;
  QObject::connect(&h.page, &PageWidget::followed, [&](const Link& link) {
    told = link.page == Page::kOps && link.target == kernel;
  });
  trigger("Show in the op table");
  CHECK(told);
}

TEST_CASE("a time range is copied as text and as a SELECT") {
  Hands h;
  h.view().select_range({{1'000'000'000}, {1'050'000'000}});
  h.key(Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
  CHECK(QGuiApplication::clipboard()->text().startsWith("start_ns\t"));
  h.key(Qt::Key_S, Qt::ControlModifier | Qt::ShiftModifier);
  CHECK(QGuiApplication::clipboard()->text().startsWith("SELECT 'range'"));
  Hands memory(test::two_rank_session());
  memory.view().select_range({{0}, {100}});
  memory.key(Qt::Key_S, Qt::ControlModifier | Qt::ShiftModifier);
  bool told = false;
  for (QLabel* label : memory.page.findChildren<QLabel*>())
    told = told || label->text().contains("not an SQLite file");
  CHECK(told);
}

TEST_CASE("a screen reader is told the selection, and each row with its name and state") {
  Hands h;
  QAccessibleInterface* timeline = QAccessible::queryAccessibleInterface(&h.view());
  REQUIRE(timeline);
  CHECK(timeline->role() == QAccessible::List);
  CHECK(timeline->text(QAccessible::Name) == "Timeline");
  h.view().select(h.named("multi_tensor_sgd"), true);
  CHECK(timeline->text(QAccessible::Description).startsWith("multi_tensor_sgd, "));
  CHECK(timeline->text(QAccessible::Description).endsWith("Stream 1"));
  REQUIRE(timeline->childCount() == static_cast<int>(h.view().layout().shown().size()));
  RowId trainer = h.row("trainer");
  h.view().set_current_row(trainer);
  h.view().fold(trainer, true);
  h.key(Qt::Key_F);
  QAccessibleInterface* row =
      timeline->child(static_cast<int>(*h.view().layout().index_of(trainer)));
  REQUIRE(row);
  CHECK(row->role() == QAccessible::ListItem);
  CHECK(row->text(QAccessible::Name).startsWith("trainer"));
  CHECK(row->text(QAccessible::Description).contains("folded"));
  CHECK(row->text(QAccessible::Description).contains("events in the"));
  CHECK(row->state().collapsed);
  CHECK(row->state().selected);
  CHECK(timeline->indexOfChild(row) == static_cast<int>(*h.view().layout().index_of(trainer)));
  h.view().set_row_filter("nothing is named so");
  CHECK(timeline->childCount() == 0);
  CHECK(!row->isValid());
  CHECK(row->text(QAccessible::Name).isEmpty());
}

TEST_CASE(
    "what was told of the place under the pointer goes when the view moves or a key is pressed") {
  Hands h;
  const Target one = h.named("wait for batch");
  const Interval when = h.model().interval_of(one);
  h.view().jump_to(one, {when.begin - when.length(), when.end + when.length()});
  const QPoint there = box_of(h.view().frame(), one)->center().toPoint();
  HoverCard* card = h.view().viewport()->findChild<HoverCard*>();
  REQUIRE(card);
  h.move(there);
  CHECK(card->isVisible());
  h.key(Qt::Key_D);
  CHECK(!card->isVisible());
  CHECK(!h.view().overlay().hovered);
  h.move(there);
  h.view().show_interval(h.model().bounds);
  CHECK(!card->isVisible());
  // A measured distance is taken off the status line with its marks.
  QString told;
  QObject::connect(&h.view(), &TimelineView::pointed_at, [&](const QString& text) { told = text; });
  h.key(Qt::Key_M);
  h.move(there + QPoint(60, 0));
  h.key(Qt::Key_M);
  CHECK(told.startsWith("Measured"));
  h.key(Qt::Key_Escape);
  CHECK(!told.startsWith("Measured"));
}

TEST_CASE("an edge of the selected time can be dragged, the other one stays") {
  Hands h;
  const TimeNs begin = h.view().mapping().time_at(200);
  const TimeNs end = h.view().mapping().time_at(400);
  h.view().select_range({begin, end});
  h.drag(h.area(400, 60), h.area(500, 60), Qt::LeftButton);
  CHECK(h.view().range().begin == begin);
  CHECK(h.view().range().end == h.view().mapping().time_at(500));
  h.drag(h.area(200, 60), h.area(600, 60), Qt::LeftButton);  // past the other edge
  CHECK(h.view().range().begin == h.view().mapping().time_at(500));
  CHECK(h.view().range().end == h.view().mapping().time_at(600));
}

TEST_CASE("a folded device shows its time classes, which tell what they are") {
  Hands h;
  RowId device;
  for (std::size_t i = 0; i < h.model().rows.size(); ++i)
    if (h.model().rows[i].kind == RowKind::kDevice) device = RowId::from(i);
  REQUIRE(device.valid());
  const RowId classes = h.model().strip_row(device);
  REQUIRE(classes.valid());
  CHECK(h.model().row(classes).kind == RowKind::kPartition);
  h.view().fold(device, true);
  const RowLayout::Shown& shown = h.view().layout().shown()[*h.view().layout().index_of(device)];
  const Lane& lane = h.model().row(classes).lanes.front();
  const auto [first, last] = lane.overlapping(h.model().bounds);
  REQUIRE(first < last);
  const Target segment = h.model().target_of(classes, lane.rows(first).front());
  const Interval when = h.model().interval_of(segment);
  h.view().show_interval({when.begin - when.length(), when.end + when.length()});
  const int x = static_cast<int>(h.view().mapping().x_of(when.begin + when.length() / 2));
  const Hit hit =
      h.view().hit({h.view().frame().gutter + x, h.view().frame().screen_y(shown.y) + 5});
  CHECK(hit.target == segment);
  h.view().fold(device, false);
  CHECK(
      !h.view().hit({h.view().frame().gutter + x, h.view().frame().screen_y(shown.y) + 5}).target);
}

TEST_CASE("the panels beside the timeline go and come back by key and by their handle") {
  Hands h;
  const int before = h.view().width();
  h.key(Qt::Key_E, Qt::ControlModifier);
  QApplication::processEvents();
  CHECK(!h.page.shows_panels());
  CHECK(h.view().width() > before);
  QTest::mouseClick(h.page.findChild<QToolButton*>(QStringLiteral("panels")), Qt::LeftButton);
  CHECK(h.page.shows_panels());
}

TEST_CASE("the timeline has most of a small window, and the legend one line") {
  Hands h(test::training_session(), {900, 560});
  CHECK(h.view().width() >= h.page.width() * 6 / 10);
  LegendBar* legend = h.page.findChild<LegendBar*>();
  REQUIRE(legend);
  const int line = legend->height();
  CHECK(line <= legend->fontMetrics().height() + 10);
  legend->set_open(true);
  CHECK(legend->height() >= line);
}

TEST_CASE("the copied command opens the same view") {
  Hands h;
  h.view().show_interval({{1'000'000}, {3'000'000}});
  h.key(Qt::Key_L, Qt::ControlModifier | Qt::ShiftModifier);
  const QString command = QGuiApplication::clipboard()->text();
  CHECK(command.startsWith("headway view '"));
  const std::string range = command.section(" --range ", 1).toStdString();
  CHECK(parse_range(range) == h.view().mapping().visible());
}

}  // namespace headway::gui
