// SPDX-License-Identifier: MIT
// Mouse and keyboard input of TimelineView.
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "common/format.h"
#include "gui/models/details/details.h"
#include "gui/models/details/findings.h"
#include "gui/models/text/display_text.h"
#include "gui/models/timeline/ticks.h"
#include "gui/timeline/key_bindings.h"
#include "gui/timeline/timeline_view.h"

namespace headway::gui {
namespace {

constexpr int kClickTolerance = 3;
constexpr int kEdgeTolerance = 4;
constexpr int kLeastGutter = 90;

}  // namespace

void TimelineView::wheelEvent(QWheelEvent* event) {
  QPointF at = event->position();
  // A wheel notch is 120; touchpads often send smaller values.
  QPointF notches = QPointF(event->angleDelta()) / 120.0;
  bool over_names = at.x() < frame_.gutter;
  if (event->modifiers() & Qt::ControlModifier || over_names) {
    set_scroll(frame_.scroll -
               static_cast<std::int64_t>(notches.y() * verticalScrollBar()->singleStep()));
  } else if (event->modifiers() & Qt::ShiftModifier ||
             std::abs(notches.x()) > std::abs(notches.y())) {
    double amount = std::abs(notches.x()) > std::abs(notches.y()) ? notches.x() : notches.y();
    set_mapping(frame_.mapping.panned(-std::round(amount * 0.1 * frame_.area_width()),
                                      frame_.model->bounds));
  } else {
    zoom(std::pow(1.25, notches.y()), at.x() - frame_.gutter);
  }
  event->accept();
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
  QPoint at = event->position().toPoint();
  pressed_at_ = last_point_ = at;
  moved_ = false;
  card_->hide();
  const bool right = event->button() == Qt::RightButton;
  if (!right && event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton) return;
  Hit found = hit(at);
  Hit::Zone zone = found.zone;
  const bool in_area = at.x() >= frame_.gutter && zone != Hit::Zone::kOverview;
  if (right) {
    // A drag draws a box to zoom to, a click opens the menu.
    drag_ = in_area ? Drag::kZoomBox : Drag::kNone;
  } else if (std::abs(at.x() - frame_.gutter) <= kEdgeTolerance && zone != Hit::Zone::kOverview) {
    drag_ = Drag::kGutter;
  } else if (zone == Hit::Zone::kOverview) {
    if (event->button() == Qt::LeftButton) press_overview(at.x());
  } else if (event->modifiers() & Qt::ControlModifier && in_area) {
    drag_ = Drag::kZoomBox;
  } else if (const std::optional<TimeNs> edge = range_edge_at(at)) {
    // The other edge stays in place.
    drag_ = Drag::kRange;
    range_anchor_ = *edge == overlay_.range.begin ? overlay_.range.end : overlay_.range.begin;
    moved_ = true;
  } else if (event->modifiers() & Qt::ShiftModifier || zone == Hit::Zone::kRuler) {
    drag_ = Drag::kRange;
    range_anchor_ = frame_.mapping.time_at(at.x() - frame_.gutter);
  } else if (zone == Hit::Zone::kName && event->button() == Qt::LeftButton) {
    drag_ = Drag::kRow;
    dragged_row_ = found.row;
  } else {
    drag_ = Drag::kPan;
  }
}

/// The edge of the selected time range under the pointer, for dragging.
std::optional<TimeNs> TimelineView::range_edge_at(const QPoint& point) const {
  if (overlay_.range.empty() || point.x() < frame_.gutter || point.y() < frame_.overview_height())
    return std::nullopt;
  for (TimeNs edge : {overlay_.range.begin, overlay_.range.end}) {
    if (std::abs(frame_.gutter + frame_.mapping.x_of(edge) - point.x()) <= kEdgeTolerance)
      return edge;
  }
  return std::nullopt;
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  QPoint at = event->position().toPoint();
  if (drag_ != Drag::kNone) {
    if ((at - pressed_at_).manhattanLength() > kClickTolerance) moved_ = true;
    if (moved_) drag_to(at);
    last_point_ = at;
    return;
  }
  hover(at);
}

void TimelineView::drag_to(const QPoint& point) {
  switch (drag_) {
    case Drag::kPan:
      set_mapping(frame_.mapping.panned(last_point_.x() - point.x(), frame_.model->bounds));
      set_scroll(frame_.scroll + last_point_.y() - point.y());
      viewport()->setCursor(Qt::ClosedHandCursor);
      break;
    case Drag::kRange: {
      TimeNs here = frame_.mapping.time_at(point.x() - frame_.gutter);
      select_range({std::min(range_anchor_, here), std::max(range_anchor_, here)});
      break;
    }
    case Drag::kOverviewBox:
      drag_overview_box(point.x() - pressed_at_.x());
      break;
    case Drag::kOverviewStretch: {
      const Interval all = frame_.model->bounds;
      const TimeNs here = std::clamp(frame_.overview_mapping().time_at(point.x() - frame_.gutter),
                                     all.begin, all.end);
      set_mapping(TimeMapping({std::min(overview_anchor_, here), std::max(overview_anchor_, here)},
                              frame_.area_width()));
      break;
    }
    case Drag::kGutter:
      frame_.gutter =
          std::clamp(point.x(), kLeastGutter, std::max(kLeastGutter, frame_.size.width() - 200));
      layout_changed();
      emit view_changed();
      break;
    case Drag::kZoomBox: {
      QRect box(std::min(pressed_at_.x(), point.x()), std::min(pressed_at_.y(), point.y()),
                std::abs(pressed_at_.x() - point.x()), std::abs(pressed_at_.y() - point.y()));
      box &=
          QRect(frame_.gutter, frame_.overview_height(), frame_.area_width(), frame_.size.height());
      // A drag that starts in the header selects time only.
      if (pressed_at_.y() < frame_.header_height()) box.setBottom(frame_.size.height() - 1);
      overlay_.zoom_box = box;
      viewport()->update();
      break;
    }
    case Drag::kRow:
      viewport()->setCursor(Qt::ClosedHandCursor);
      drag_row_to(point);
      break;
    case Drag::kNone:
      break;
  }
}

/// Zooms time to the width of the box, and scrolls its first row to the top.
void TimelineView::zoom_to_box(const QRect& box) {
  if (box.width() < 2) return;
  Interval time{frame_.mapping.time_at(box.left() - frame_.gutter),
                frame_.mapping.time_at(box.left() + box.width() - frame_.gutter)};
  const bool rows = pressed_at_.y() >= frame_.header_height() &&
                    box.top() >= frame_.header_height() + frame_.sticky_height();
  const std::int64_t top = frame_.layout_y(box.top()) - frame_.sticky_height();
  show_interval(time);
  if (rows && box.height() > layout_.metrics().lane) set_scroll(top);
}

void TimelineView::press_overview(int x) {
  before_overview_ = {frame_.mapping, frame_.scroll};
  const Interval visible = frame_.mapping.visible();
  switch (overview_grip_at(x)) {
    case OverviewGrip::kBox:
      drag_ = Drag::kOverviewBox;
      viewport()->setCursor(Qt::ClosedHandCursor);
      return;
    case OverviewGrip::kBegin:
      overview_anchor_ = visible.end;
      break;
    case OverviewGrip::kEnd:
      overview_anchor_ = visible.begin;
      break;
    case OverviewGrip::kBeside:
      overview_anchor_ = frame_.overview_mapping().time_at(x - frame_.gutter);
      break;
  }
  drag_ = Drag::kOverviewStretch;
}

OverviewGrip TimelineView::overview_grip_at(int x) const {
  const TimeMapping whole = frame_.overview_mapping();
  return overview_grip(overview_box(whole, frame_.mapping.visible()), whole.width(),
                       x - frame_.gutter);
}

/// `pixels`: movement in the overview since the drag began.
void TimelineView::drag_overview_box(int pixels) {
  const TimeMapping& from = before_overview_.mapping;
  const double scale = frame_.overview_mapping().ns_per_pixel() / from.ns_per_pixel();
  set_mapping(from.panned(pixels * scale, frame_.model->bounds));
}

/// A click beside the box moves the view there at the same zoom; a click on the box does nothing.
void TimelineView::release_overview(Drag drag, int x) {
  if (!moved_) {
    if (drag != Drag::kOverviewStretch || overview_grip_at(x) != OverviewGrip::kBeside) return;
    const TimeNs middle = frame_.overview_mapping().time_at(x - frame_.gutter);
    const double off = frame_.mapping.x_of(middle) - frame_.area_width() / 2.0;
    set_mapping(frame_.mapping.panned(off, frame_.model->bounds));
  }
  remember(before_overview_);
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  QPoint at = event->position().toPoint();
  Drag drag = drag_;
  drag_ = Drag::kNone;
  viewport()->unsetCursor();
  if (drag == Drag::kZoomBox) {
    QRect box = std::exchange(overlay_.zoom_box, {});
    viewport()->update();
    if (moved_) return zoom_to_box(box);
  }
  if (drag == Drag::kOverviewBox || drag == Drag::kOverviewStretch)
    return release_overview(drag, at.x());
  if (event->button() == Qt::RightButton) return open_menu(at);
  if (drag == Drag::kRow && moved_) return drop_row();
  if (event->button() != Qt::LeftButton) return;
  if (!moved_ && drag == Drag::kRange) return select_range({});
  if (moved_ || (drag != Drag::kPan && drag != Drag::kRow)) return;
  Hit found = hit(at);
  if (found.row.valid()) set_current_row(found.row);
  if (found.zone == Hit::Zone::kName) {
    if (frame_.model->row(found.row).can_fold()) fold(found.row, !layout_.is_folded(found.row));
  } else if (found.item && !found.target) {
    // Several events in one pixel: a click zooms in on them.
    remember_place();
    zoom(8, at.x() - frame_.gutter);
  } else {
    select(found.target, false);
  }
}

void TimelineView::open_menu(const QPoint& point) {
  Hit found = hit(point);
  if (found.row.valid()) set_current_row(found.row);
  if (found.target) select(found.target, false);
  emit menu_wanted(found, point, viewport()->mapToGlobal(point));
}

/// The mouse opens its menu when the button is released, because a drag has another meaning.
void TimelineView::contextMenuEvent(QContextMenuEvent* event) {
  if (event->reason() == QContextMenuEvent::Keyboard) run(Command::kMenu);
  event->accept();
}

void TimelineView::focusInEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusInEvent(event);
  viewport()->update();
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  Hit found = hit(event->position().toPoint());
  if (found.target)
    jump_to(found.target,
            with_context(frame_.model->interval_of(found.target), frame_.model->bounds));
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
  card_->hide();  // it describes what was under the pointer before
  for (Command command : commands_for(*event)) {
    if (run(command)) return event->accept();
  }
  event->ignore();  // left to the window's commands
}

bool TimelineView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave) {
    pointer_ = {-1, -1};
    overlay_.pointer_x = -1;
    pointer_is_stale();
    viewport()->update();
  }
  return QAbstractScrollArea::viewportEvent(event);
}

TimeNs TimelineView::snapped_time(const QPoint& point) const {
  constexpr double kSnap = 8;
  const double x = point.x() - frame_.gutter;
  Hit found = hit(point);
  if (found.zone == Hit::Zone::kSteps)
    return snapped_to_edge(frame_.model->steps, frame_.mapping, x, kSnap);
  if (found.zone != Hit::Zone::kRow || frame_.model->row(found.row).lanes.empty())
    return frame_.mapping.time_at(x);
  const RowLayout::Shown& shown = layout_.shown()[*layout_.index_of(found.row)];
  const std::uint32_t lane = layout_.lane_at(shown, frame_.layout_y(point.y()));
  return snapped_to_edge(frame_.model->row(found.row).lanes[lane], frame_.mapping, x, kSnap);
}

void TimelineView::hover(const QPoint& point) {
  pointer_ = point;
  Hit found = hit(point);
  bool at_edge = std::abs(point.x() - frame_.gutter) <= kEdgeTolerance;
  const OverviewGrip grip =
      found.zone == Hit::Zone::kOverview ? overview_grip_at(point.x()) : OverviewGrip::kBeside;
  if ((at_edge && found.zone != Hit::Zone::kOverview) || range_edge_at(point) ||
      grip == OverviewGrip::kBegin || grip == OverviewGrip::kEnd) {
    viewport()->setCursor(Qt::SplitHCursor);
  } else if (grip == OverviewGrip::kBox) {
    viewport()->setCursor(Qt::OpenHandCursor);
  } else {
    viewport()->unsetCursor();
  }
  // Repaints only what changed, because over X forwarding every pixel is transferred.
  auto touch = [&](const Target& target) {
    if (std::optional<QRectF> box = box_of(frame_, target))
      viewport()->update(
          box->adjusted(-3, -3, 3, 3).intersected(viewport()->rect()).toAlignedRect());
  };
  auto touch_line = [&] {
    viewport()->update(QRect(overlay_.pointer_x, 0, 1, frame_.size.height()));
  };
  if (!(overlay_.hovered == found.target)) {
    touch(overlay_.hovered);
    touch(found.target);
  }
  touch_line();
  overlay_.hovered = found.target;
  overlay_.pointer_x = point.x() >= frame_.gutter ? point.x() : -1;
  touch_line();
  if (overlay_.measure && !overlay_.measure.second() && overlay_.pointer_x >= 0) {
    overlay_.measured_to = snapped_time(point);
    viewport()->update();
  }
  describe_hover(found, point);
}

/// The view moved under the pointer: the described event is out of date, only the time is known.
void TimelineView::pointer_is_stale() {
  overlay_.hovered = {};
  card_->hide();
  emit pointed_at(pointer_.x() < frame_.gutter ? QString() : time_text(pointer_));
}

QString TimelineView::time_text(const QPoint& point) const {
  const bool overview = frame_.overview_rect().contains(point);
  const TimeMapping mapping = overview ? frame_.overview_mapping() : frame_.mapping;
  DurationNs pixel{std::max<std::int64_t>(1, static_cast<std::int64_t>(mapping.ns_per_pixel()))};
  return QString::fromStdString(format_time(mapping.time_at(point.x() - frame_.gutter), pixel));
}

void TimelineView::describe_hover(const Hit& found, const QPoint& point) {
  QStringList lines;
  if (found.target) {
    lines = hover_lines(found);
  } else if (found.item && found.row.valid()) {
    lines = merged_lines(found);
  } else if (found.zone == Hit::Zone::kName) {
    const Row& row = frame_.model->row(found.row);
    lines << QString::fromStdString(row.label);
    if (!row.detail.empty()) lines << QString::fromStdString(row.detail);
  } else if (found.zone == Hit::Zone::kRow &&
             frame_.model->row(found.row).kind == RowKind::kCounter) {
    lines = counter_lines(found.row, frame_.mapping.time_at(point.x() - frame_.gutter));
  }
  if (found.zone == Hit::Zone::kRuler && overlay_.bookmarks) {
    if (auto index = bookmark_at(frame_, *overlay_.bookmarks, point.x() - frame_.gutter))
      lines =
          QString::fromStdString(display_text((*overlay_.bookmarks)[*index].note, 200)).split('\n');
  }
  card_->show_at(point, lines);
  emit pointed_at(point.x() < frame_.gutter ? QString() : time_text(point));
}

QStringList TimelineView::hover_lines(const Hit& found) const {
  QStringList lines{QString::fromStdString(title_of(*frame_.model, found.target))};
  for (const Detail& detail : describe_briefly(*frame_.model, found.target))
    lines << QString::fromStdString(detail.label + ": " + detail.value);
  if (found.row.valid() && found.item &&
      frame_.model->row(found.row).kind == RowKind::kCollectives) {
    bool waits = found.item->color == role_of(analyzer::TimeClass::kStragglerWait);
    lines << (waits ? tr("This part: waiting for the last rank") : tr("This part: transfer"));
  }
  return lines;
}

QStringList TimelineView::merged_lines(const Hit& found) const {
  const LaneItem& item = *found.item;
  QStringList lines{
      tr("%1 events in this pixel").arg(QString::fromStdString(format_count(item.count)))};
  lines << tr("Covering %1 of the pixel")
               .arg(QString::fromStdString(format_percent(item.fill / 255.0)));
  const Lane* strip = strip_of(frame_, found.row);
  const RowId id = strip ? frame_.model->strip_row(found.row) : found.row;
  const RowLayout::Shown& shown = layout_.shown()[*layout_.index_of(found.row)];
  const Lane& lane =
      strip ? *strip
            : frame_.model->row(id).lanes[layout_.lane_at(shown, frame_.layout_y(pointer_.y()))];
  // Describes the longest event; looking at more than this many would be noticeable.
  constexpr std::uint32_t kMostLookedAt = 200'000;
  std::uint32_t longest = item.entry;
  std::uint32_t last = std::min<std::uint32_t>(item.entry + std::min(item.count, kMostLookedAt),
                                               static_cast<std::uint32_t>(lane.entries()));
  for (std::uint32_t i = item.entry; i < last; ++i) {
    if (lane.interval(i).length() > lane.interval(longest).length()) longest = i;
  }
  Target target = frame_.model->target_of(id, lane.rows(longest).front());
  lines << tr("Longest: %1, %2")
               .arg(QString::fromStdString(title_of(*frame_.model, target)),
                    QString::fromStdString(format_duration(lane.interval(longest).length())));
  lines << tr("Click to zoom in");
  return lines;
}

QStringList TimelineView::counter_lines(RowId id, TimeNs t) const {
  const CounterLane& counter = frame_.model->counters[frame_.model->row(id).subject];
  std::optional<double> value = counter.value_at(t);
  if (!value) return {};
  QStringList lines{QString::fromStdString(frame_.model->row(id).label),
                    counter_text(*value, counter.series().unit)};
  return lines;
}

}  // namespace headway::gui
