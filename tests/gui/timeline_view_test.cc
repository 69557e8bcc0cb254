// SPDX-License-Identifier: MIT
// The hands on the timeline: mouse and keys, without a display.
#include "gui/timeline/timeline_view.h"

#include <doctest/doctest.h>

#include <QMouseEvent>
#include <QScrollBar>
#include <QWheelEvent>
#include <cmath>
#include <map>
#include <random>

#include "tests/gui/support/application.h"
#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

struct View {
  explicit View(std::shared_ptr<const Session> s = test::training_session(),
                QSize size = {1000, 500}) {
    view.resize(size);
    view.show();
    view.set_session(std::move(s));
    QApplication::processEvents();
  }

  int gutter() const { return view.frame().gutter; }
  QPoint area(int x, int y) const { return {gutter() + x, view.frame().header_height() + y}; }
  void wheel(QPoint at, int notches, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QWheelEvent event(at, view.viewport()->mapToGlobal(at), {}, {0, 120 * notches}, Qt::NoButton,
                      modifiers, Qt::NoScrollPhase, false);
    QApplication::sendEvent(view.viewport(), &event);
  }
  /// Sent straight to the view: QTest moves the pointer, and another window may lie above.
  void move(QPoint to, Qt::MouseButtons buttons = Qt::NoButton) {
    QMouseEvent event(QEvent::MouseMove, to, view.viewport()->mapToGlobal(to), Qt::NoButton,
                      buttons, Qt::NoModifier);
    QApplication::sendEvent(view.viewport(), &event);
  }
  void drag(QPoint from, QPoint to, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::mousePress(view.viewport(), Qt::LeftButton, modifiers, from);
    move((from + to) / 2, Qt::LeftButton);
    move(to, Qt::LeftButton);
    QTest::mouseRelease(view.viewport(), Qt::LeftButton, modifiers, to);
  }
  /// The middle of a target's box on screen.
  QPoint middle(const Target& target) const {
    return box_of(view.frame(), target)->center().toPoint();
  }
  void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(&view, key, modifiers);
  }

  QApplication& application = test::application();  // before any widget
  TimelineView view;
};

Target named(const char* name) {
  return Target::of(test::event_named(test::training_session()->trace, name));
}

}  // namespace

TEST_CASE("a new trace is shown whole") {
  View v;
  Interval visible = v.view.mapping().visible();
  Interval all = test::training_session()->timeline.bounds;
  CHECK(visible.begin <= all.begin);
  CHECK(visible.end >= all.end);
  CHECK(visible.length() < all.length() * 11 / 10);
}

TEST_CASE("the wheel zooms and keeps the time under the pointer") {
  View v;
  for (int x : {10, 333, 700}) {
    for (int notches : {3, 1, -2, 5, -1}) {
      double before = v.view.mapping().ns_per_pixel();
      TimeNs under = v.view.mapping().time_at(x);
      v.wheel(v.area(x, 100), notches);
      double after = v.view.mapping().ns_per_pixel();
      CHECK((notches > 0 ? after < before : after > before));
      CHECK(std::abs((v.view.mapping().time_at(x) - under).ns) <= 1 + after * 1e-6);
    }
  }
}

TEST_CASE("over the names and with Ctrl the wheel scrolls rows, with Shift it moves time") {
  View v(test::training_session(), {1000, 260});
  REQUIRE(v.view.verticalScrollBar()->maximum() > 0);
  TimeMapping before = v.view.mapping();
  v.wheel({20, 150}, -1);
  CHECK(v.view.verticalScrollBar()->value() > 0);
  v.wheel(v.area(50, 50), 5, Qt::ControlModifier);
  CHECK(v.view.verticalScrollBar()->value() == 0);
  CHECK(v.view.mapping().visible() == before.visible());
  v.wheel(v.area(50, 50), 4);
  Interval visible = v.view.mapping().visible();
  v.wheel(v.area(50, 50), -1, Qt::ShiftModifier);
  CHECK(v.view.mapping().visible().begin > visible.begin);
  CHECK(v.view.mapping().visible().length() == visible.length());
}

TEST_CASE("dragging moves the time that was grasped to where it is let go") {
  View v;
  v.wheel(v.area(300, 50), 8);
  TimeNs grasped = v.view.mapping().time_at(400);
  v.drag(v.area(400, 120), v.area(250, 120));
  CHECK(std::abs((v.view.mapping().time_at(250) - grasped).ns) <= 1);
  CHECK(!v.view.selection());
}

TEST_CASE("dragging with Shift, or along the ruler, selects a time range and a click clears it") {
  for (bool ruler : {false, true}) {
    View v;
    Interval told;
    QObject::connect(&v.view, &TimelineView::range_changed, [&](Interval range) { told = range; });
    int y = ruler ? v.view.frame().ruler_rect().center().y() - v.view.frame().header_height() : 80;
    TimeNs from = v.view.mapping().time_at(100);
    TimeNs to = v.view.mapping().time_at(300);
    v.drag(v.area(300, y), v.area(100, y), ruler ? Qt::NoModifier : Qt::ShiftModifier);
    CHECK(v.view.range() == Interval{from, to});
    CHECK(told == v.view.range());
    v.key(Qt::Key_Z);
    CHECK(std::abs((v.view.mapping().visible().begin - from).ns) <= 1);
    CHECK(std::abs((v.view.mapping().visible().end - to).ns) <=
          std::ceil(v.view.mapping().ns_per_pixel()) + 1);
    v.key(Qt::Key_Escape);
    CHECK(v.view.range().empty());
  }
}

TEST_CASE("a click selects the event under the pointer, one on empty ground selects nothing") {
  View v;
  Target told;
  QObject::connect(&v.view, &TimelineView::selection_changed,
                   [&](const Target& target) { told = target; });
  Target wait = named("wait for batch");
  v.view.jump_to(wait, {v.view.frame().model->interval_of(wait).begin - DurationNs{50'000'000},
                        v.view.frame().model->interval_of(wait).end});
  QPoint at = v.middle(wait);
  v.view.select({}, false);
  QTest::mouseClick(v.view.viewport(), Qt::LeftButton, {}, at);
  CHECK(v.view.selection() == wait);
  CHECK(told == wait);
  QTest::mouseClick(v.view.viewport(), Qt::LeftButton, {},
                    {v.view.width() - 40, v.view.frame().size.height() - 3});
  CHECK(!v.view.selection());
}

TEST_CASE("a click where events share a pixel zooms in on them, a double click zooms to one") {
  View v;
  // In a view of the whole run the ops of a step share pixels.
  const RowLayout::Shown& stream = v.view.layout().shown()[2];
  int y = v.view.frame().screen_y(stream.y) + 8;
  for (int x = 0; x < 700; ++x) {
    Hit hit = v.view.hit({v.gutter() + x, y});
    if (!hit.item || hit.target) continue;
    double before = v.view.mapping().ns_per_pixel();
    QTest::mouseClick(v.view.viewport(), Qt::LeftButton, {}, {v.gutter() + x, y});
    CHECK(v.view.mapping().ns_per_pixel() < before / 4);
    break;
  }
  CHECK(v.view.mapping().ns_per_pixel() < 1e6);
  Target step = named("step");
  v.view.run(Command::kFitAll);
  QTest::mouseDClick(v.view.viewport(), Qt::LeftButton, {}, v.middle(step));
  CHECK(v.view.selection() == step);
  CHECK(v.view.mapping().visible().length() < v.view.frame().model->interval_of(step).length() * 4);
}

TEST_CASE("WASD, arrows, plus, minus and F move through time") {
  View v;
  auto visible = [&] { return v.view.mapping().visible(); };
  Interval all = visible();
  v.key(Qt::Key_W);
  CHECK(visible().length() < all.length());
  v.key(Qt::Key_Plus, Qt::ShiftModifier);  // as on keyboards where + needs Shift
  Interval closer = visible();
  CHECK(closer.length() < all.length() / 2);
  v.key(Qt::Key_D);
  CHECK(visible().begin > closer.begin);
  v.key(Qt::Key_Left);
  CHECK(std::abs((visible().begin - closer.begin).ns) <= 2);
  v.key(Qt::Key_A);
  CHECK(visible().begin < closer.begin);
  v.key(Qt::Key_Right);
  v.key(Qt::Key_S);
  v.key(Qt::Key_Minus);
  CHECK(visible().length() > closer.length());
  v.key(Qt::Key_F);
  CHECK(visible().length() == all.length());
}

TEST_CASE("N and P walk the events of one name, Ctrl+arrows those of one line") {
  View v;
  const trace::Trace& trace = test::training_session()->trace;
  v.view.select(named("wait for batch"), true);
  auto start = [&] { return v.view.frame().model->interval_of(v.view.selection()).begin; };
  TimeNs first = start();
  v.key(Qt::Key_N);
  TimeNs second = start();
  CHECK(second > first);
  CHECK(analyzer::name_of(trace, v.view.selection().event) == "wait for batch");
  v.key(Qt::Key_BracketRight);
  CHECK(start() > second);
  v.key(Qt::Key_P);
  v.key(Qt::Key_BracketLeft);
  CHECK(start() == first);
  v.key(Qt::Key_Right, Qt::ControlModifier);
  Target neighbour = v.view.selection();
  CHECK(start() > first);
  v.key(Qt::Key_Left, Qt::ControlModifier);
  CHECK(start() == first);
  CHECK(neighbour != v.view.selection());
}

TEST_CASE("G goes from a call to its device op and back, unfolding rows on the way") {
  View v;
  Target kernel = named("multi_tensor_sgd");
  v.key(Qt::Key_Return, Qt::ShiftModifier);  // fold everything
  v.view.select(kernel, true);
  v.key(Qt::Key_G);
  REQUIRE(v.view.selection().event.kind == analyzer::EventRef::Kind::kCall);
  std::optional<QRectF> box = box_of(v.view.frame(), v.view.selection());
  REQUIRE(box);
  CHECK(v.view.viewport()->rect().contains(box->center().toPoint()));
  v.key(Qt::Key_G);
  CHECK(v.view.selection() == kernel);
}

TEST_CASE("jumps can be taken back and made again") {
  View v;
  Interval all = v.view.mapping().visible();
  Target step = named("step");
  v.view.jump_to(step, v.view.frame().model->interval_of(step));
  Interval there = v.view.mapping().visible();
  v.key(Qt::Key_Backspace);
  CHECK(v.view.mapping().visible().begin == all.begin);
  v.key(Qt::Key_Right, Qt::AltModifier);
  CHECK(v.view.mapping().visible() == there);
  v.key(Qt::Key_Left, Qt::AltModifier);
  CHECK(v.view.mapping().visible().length() == all.length());
  for (int i = 0; i < 5; ++i) v.key(Qt::Key_Backspace);  // nothing more to take back
}

TEST_CASE("rows fold by mouse and keyboard, and a selection is brought into sight") {
  View v(test::training_session(), {900, 300});
  std::int64_t full = v.view.layout().height();
  QTest::mouseClick(v.view.viewport(), Qt::LeftButton, {}, {30, v.view.frame().screen_y(5)});
  CHECK(v.view.layout().height() < full);
  QTest::mouseClick(v.view.viewport(), Qt::LeftButton, {}, {30, v.view.frame().screen_y(5)});
  CHECK(v.view.layout().height() == full);
  v.view.select(named("decode"), true);
  v.key(Qt::Key_Return);
  CHECK(v.view.layout().height() < full);
  v.key(Qt::Key_Return, Qt::ControlModifier);
  CHECK(v.view.layout().height() == full);
  v.view.verticalScrollBar()->setValue(0);
  v.view.select(named("decode"), true);
  CHECK(v.view.viewport()->rect().contains(
      QPoint(500, static_cast<int>(box_of(v.view.frame(), v.view.selection())->center().y()))));
}

TEST_CASE("a click in the overview goes there and nowhere from its box, drags move or choose") {
  View v;
  auto overview = [&](double x) { return QPoint(v.gutter() + static_cast<int>(x), 8); };
  auto box = [&] {
    return overview_box(v.view.frame().overview_mapping(), v.view.mapping().visible());
  };
  auto wanted = [&](int x) { return v.view.frame().overview_mapping().time_at(x); };
  // With the whole trace in view a drag chooses a stretch.
  v.drag(overview(300), overview(500));
  CHECK(std::abs(box().from - 300) <= 1);
  CHECK(std::abs(box().to - 500) <= 2);
  // A click on the box leaves the view where it is, a drag takes it along from where it is held.
  const Interval before = v.view.mapping().visible();
  QTest::mouseClick(v.view.viewport(), Qt::LeftButton, {}, overview(330));
  CHECK(v.view.mapping().visible() == before);
  v.drag(overview(330), overview(380));
  CHECK(std::abs(box().from - 350) <= 1);
  CHECK(std::abs((v.view.mapping().visible().length() - before.length()).ns) <= 2);
  v.key(Qt::Key_Left, Qt::AltModifier);
  CHECK(std::abs((v.view.mapping().visible().begin - before.begin).ns) <= 2);
  // An edge.
  v.drag(overview(box().to - 1), overview(450));
  CHECK(std::abs(box().from - 300) <= 1);
  CHECK(std::abs(box().to - 450) <= 2);
  // A click beside it.
  const DurationNs length = v.view.mapping().visible().length();
  QTest::mouseClick(v.view.viewport(), Qt::LeftButton, {}, overview(600));
  CHECK(std::abs(v.view.mapping().x_of(wanted(600)) - v.view.frame().area_width() / 2.0) < 2);
  CHECK(std::abs((v.view.mapping().visible().length() - length).ns) <= 2);
  // Deep in the trace the box is a few pixels wide: to press it must not lose the place.
  v.wheel(v.area(100, 50), 60);
  const Interval deep = v.view.mapping().visible();
  QTest::mouseClick(v.view.viewport(), Qt::LeftButton, {}, overview(box().from + 1));
  CHECK(v.view.mapping().visible() == deep);
}

TEST_CASE("the names can be made wider") {
  View v;
  int gutter = v.gutter();
  v.drag({gutter, 200}, {gutter + 80, 200});
  CHECK(v.gutter() == gutter + 80);
}

TEST_CASE("a resize keeps the visible time") {
  View v;
  v.wheel(v.area(200, 50), 5);
  Interval before = v.view.mapping().visible();
  v.view.resize(1500, 700);
  QApplication::processEvents();
  CHECK(std::abs((v.view.mapping().visible().end - before.end).ns) <= 2);
  CHECK(v.view.mapping().width() == v.view.frame().area_width());
}

TEST_CASE(
    "the pixel in the middle of an event has a shade of its colour, one name always the same") {
  View v;
  const TimelineModel& model = *v.view.frame().model;
  std::mt19937 random(3);
  std::map<trace::StringId, QRgb> shades;
  int checked = 0;
  for (int i = 0; i < 400 && checked < 60; ++i) {
    std::uint32_t op = static_cast<std::uint32_t>(random() % model.trace->device_ops.size());
    Target target = Target::of(analyzer::EventRef::of(trace::DeviceOpId{op}));
    Interval when = model.interval_of(target);
    v.view.jump_to(target, {when.begin - when.length() * 4, when.end + when.length() * 4});
    QRectF box = *box_of(v.view.frame(), target);
    if (box.width() < 20) continue;
    const QImage& image = v.view.render_frame();
    const Theme& theme = *v.view.frame().theme;
    const ColorRole expected = role_of(*model.trace, model.analysis->attribution, {op});
    // Off the label: near the right edge.
    const QRgb seen =
        image.pixel(static_cast<int>(box.right()) - 3, static_cast<int>(box.top()) + 1);
    CHECK((seen == (theme.shade(expected, 0) | 0xff000000) ||
           seen == (theme.shade(expected, 1) | 0xff000000) ||
           seen == (theme.shade(expected, 2) | 0xff000000)));
    const auto known = shades.emplace(model.trace->device_ops.name[op], seen).first;
    CHECK(known->second == seen);
    ++checked;
  }
  CHECK(checked == 60);
}

TEST_CASE("hovering tells the event in plain text, and merged events by their number") {
  View v;
  Target step = named("step");
  v.move(v.middle(step));
  QStringList lines = v.view.viewport()->findChild<HoverCard*>()->lines();
  REQUIRE(!lines.isEmpty());
  CHECK(lines[0] == "step");
  CHECK(lines.join('\n').contains("Duration: "));
  const RowLayout::Shown& stream = v.view.layout().shown()[2];
  int y = v.view.frame().screen_y(stream.y) + 12;
  for (int x = 0; x < 700; ++x) {
    Hit hit = v.view.hit({v.gutter() + x, y});
    if (!hit.item || hit.item->count < 2) continue;
    v.move({v.gutter() + x, y});
    lines = v.view.viewport()->findChild<HoverCard*>()->lines();
    CHECK(lines[0].contains("events in this pixel"));
    CHECK(lines.join('\n').contains("Longest: "));
    return;
  }
  FAIL("no merged events in a view of the whole run");
}

TEST_CASE("hostile names, depths, times and numbers are drawn, hovered and walked through") {
  test::TraceBuilder builder;
  test::build_hostile(builder, 200);
  View v(test::session_of(builder));
  const TimelineModel& model = *v.view.frame().model;
  for (std::size_t i = 0; i < model.rows.size(); ++i) {
    for (const Lane& lane : model.rows[i].lanes) {
      if (lane.entries() == 0) continue;
      Target target = model.target_of(RowId::from(i), lane.rows(0).front());
      v.view.select(target, true);
      v.key(Qt::Key_Z);
      v.view.render_frame();
      v.move(v.middle(target));
      v.view.viewport()->repaint();
    }
    if (i % 20 == 0) {
      v.key(Qt::Key_F);
      v.view.viewport()->repaint();
    }
  }
  for (int i = 0; i < 90; ++i) v.wheel(v.area(400, 60), 3);
  v.view.viewport()->repaint();
  CHECK(v.view.mapping().ns_per_pixel() == TimeMapping::kMinNsPerPixel);
  for (int i = 0; i < 200; ++i) v.wheel(v.area(10, 60), -3);
  v.view.viewport()->repaint();
}

TEST_CASE("ten thousand threads scroll and paint") {
  test::TraceBuilder builder;
  for (int t = 0; t < 10'000; ++t) builder.range(t + 1, "work", t * 10, t * 10 + 500);
  View v(test::session_of(builder));
  QScrollBar* bar = v.view.verticalScrollBar();
  for (int i = 0; i <= 10; ++i) {
    bar->setValue(bar->maximum() * i / 10);
    v.view.viewport()->repaint();
  }
  CHECK(test::count_colors(v.view.render_frame()) > 3);
}

TEST_CASE("a view without a trace, and one of a trace without events, explain themselves") {
  View none(nullptr);
  none.view.viewport()->repaint();
  for (const Shortcut& one : shortcuts()) none.view.run(one.command);
  none.wheel(none.area(5, 5), 1);
  QTest::mouseClick(none.view.viewport(), Qt::LeftButton, {}, none.area(50, 50));
  test::TraceBuilder builder;
  View empty(test::session_of(builder));
  CHECK(test::count_colors(empty.view.grab().toImage()) > 5);  // the text of the empty state
}

TEST_CASE("a screen with twice the pixels shows the same at twice the resolution") {
  View v;
  Frame frame = v.view.frame();
  frame.pixel_ratio = 2;
  QImage image(frame.size * 2, QImage::Format_RGB32);
  image.setDevicePixelRatio(2);
  QPainter painter(&image);
  LabelCache labels;
  labels.set_font(frame.font);
  RowsPass().paint(image, painter, frame, labels);
  HeaderPass().paint(image, painter, frame);
  painter.end();
  QImage single = v.view.render_frame();
  int same = 0;
  int compared = 0;
  for (int y = frame.header_height() + 2; y < frame.size.height(); y += 5) {
    for (int x = frame.gutter + 3; x < frame.size.width(); x += 7) {
      ++compared;
      same += single.pixel(x, y) == image.pixel(2 * x, 2 * y) ||
              single.pixel(x, y) == image.pixel(2 * x + 1, 2 * y + 1);
    }
  }
  CHECK(same > compared * 9 / 10);
}

}  // namespace headway::gui
