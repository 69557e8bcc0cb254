// SPDX-License-Identifier: MIT
#include "gui/timeline/overlay_pass.h"

#include <QPainterPath>
#include <algorithm>

#include "common/format.h"
#include "gui/models/text/vocabulary.h"
#include "gui/models/timeline/flag_places.h"

namespace headway::gui {

using analyzer::EventRef;

namespace {

void paint_range(QPainter& painter, const Frame& frame, Interval range) {
  double from = frame.gutter + frame.mapping.x_of(range.begin);
  double to = frame.gutter + frame.mapping.x_of(range.end);
  double left = std::max<double>(from, frame.gutter);
  double right = std::min<double>(to, frame.size.width());
  if (right <= left) return;
  QColor fill = frame.theme->accent;
  fill.setAlpha(frame.theme->dark ? 46 : 30);
  int top = frame.overview_height();
  painter.fillRect(QRectF(left, top, right - left, frame.size.height() - top), fill);
  for (double x : {from, to}) {
    if (x >= frame.gutter && x <= frame.size.width())
      painter.fillRect(QRectF(x, top, 1, frame.size.height() - top), frame.theme->accent);
  }
  QString text = QString::fromStdString(format_duration(range.length()));
  QFontMetrics metrics(frame.font);
  int width = metrics.horizontalAdvance(text) + 12;
  QRectF label(std::clamp<double>((left + right - width) / 2, frame.gutter,
                                  std::max<double>(frame.gutter, frame.size.width() - width)),
               frame.ruler_rect().top() + 2, width, metrics.height() + 3);
  painter.setFont(frame.font);
  painter.setPen(Qt::NoPen);
  painter.setBrush(frame.theme->accent);
  painter.drawRoundedRect(label, 3, 3);
  painter.setPen(frame.theme->palette().color(QPalette::HighlightedText));
  painter.drawText(label, Qt::AlignCenter, text);
}

/// Scrolling rows are clipped where the pinned rows are above them.
QRect clip_of(const Frame& frame, RowId row) {
  if (!row.valid()) return frame.steps_rect();
  std::optional<std::size_t> index = frame.layout->index_of(row);
  bool pinned = index && frame.layout->shown()[*index].pinned;
  return pinned ? frame.area_rect() : frame.scrolling_rect();
}

/// The box of an entry of a row; none when the row is hidden.
std::optional<QRectF> box_at(const Frame& frame, const Place& place, Interval when) {
  double left = frame.gutter + frame.mapping.x_of(when.begin);
  double right = std::max(left + 1, frame.gutter + frame.mapping.x_of(when.end));
  if (!place.row.valid()) {
    QRect steps = frame.steps_rect();
    return QRectF(left, steps.top() + 1, right - left, steps.height() - 3);
  }
  std::optional<std::size_t> index = frame.layout->index_of(place.row);
  if (!index) return std::nullopt;
  const RowLayout::Shown& shown = frame.layout->shown()[*index];
  bool hidden = shown.row != place.row || place.lane >= shown.lanes;
  std::int64_t y = hidden ? shown.y : frame.layout->lane_y(shown, place.lane);
  int height = hidden ? shown.height : frame.layout->metrics().lane;
  return QRectF(left, frame.screen_y(y), right - left, height - 1);
}

void paint_box(QPainter& painter, const Frame& frame, const QRectF& box, const QRect& clip,
               const QColor& color, double width) {
  // Far outside the screen, a pen along edges would be clipped segment by segment, which is slow.
  double left = std::max<double>(box.left(), frame.gutter - 10);
  double right = std::min<double>(box.right(), frame.size.width() + 10);
  if (right < left) return;
  painter.setClipRect(clip);
  painter.setPen(QPen(color, width));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(QRectF(left, box.top(), right - left, box.height()));
}

void paint_target(QPainter& painter, const Frame& frame, const Target& target, const QColor& color,
                  double width) {
  std::optional<Place> place = frame.model->find(target);
  if (!place) return;
  if (auto box = box_at(frame, *place, frame.model->interval_of(target)))
    paint_box(painter, frame, *box, clip_of(frame, place->row), color, width);
}

/// Marks the second place of a selected event: among the collectives or the waits.
void paint_echo(QPainter& painter, const Frame& frame, const Target& target) {
  if (target.kind != Target::Kind::kEvent) return;
  const TimelineModel& model = *frame.model;
  const std::uint32_t index = target.event.index;
  RowId row;
  std::uint32_t id = index;
  if (target.event.kind == EventRef::Kind::kDeviceOp) {
    trace::StreamId stream = model.trace->device_ops.stream[index];
    row = model.derived_row(RowKind::kCollectives, model.trace->streams[stream.value].device.value);
  } else if (target.event.kind == EventRef::Kind::kCall) {
    row = model.derived_row(RowKind::kWaits, model.trace->calls.thread[index].value);
  } else {
    row = model.derived_row(RowKind::kWaits, model.trace->ranges.thread[index].value);
    id |= TimelineModel::kRangeBit;
  }
  if (!row.valid()) return;
  const Interval when = model.interval_of(target);
  const std::vector<Lane>& lanes = model.row(row).lanes;
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
    std::optional<std::uint32_t> entry = lanes[lane].find(when.begin, id);
    if (!entry) continue;
    if (auto box = box_at(frame, {row, lane, *entry}, when))
      paint_box(painter, frame, *box, clip_of(frame, row), frame.theme->accent, 1);
    return;
  }
}

QColor color_of(const Theme& theme, EventLinkKind kind) {
  switch (kind) {
    case EventLinkKind::kLaunch:
      return theme.accent;
    case EventLinkKind::kRecord:
    case EventLinkKind::kStreamWait:
    case EventLinkKind::kHostWait:
      return theme.warning;
    case EventLinkKind::kBackward:
      return theme.mark;
    case EventLinkKind::kCollective:
      return theme.color(analyzer::TimeClass::kCommTransfer);
    default:
      return theme.good;
  }
}

void paint_link(QPainter& painter, const Frame& frame, const EventLink& link) {
  std::optional<QRectF> a = box_of(frame, Target::of(link.from));
  std::optional<QRectF> b = box_of(frame, Target::of(link.to));
  if (!a || !b) return;
  // Distant ends are moved closer, so that the curve stays in a range that painting can handle.
  auto near = [&](double x) { return std::clamp<double>(x, -4000, frame.size.width() + 4000); };
  double from_x = leaves_at_end(link.kind) ? a->right() : a->left() + std::min(a->width(), 6.0) / 2;
  QPointF from(near(from_x), a->center().y());
  QPointF to(near(arrives_at_end(link.kind) ? b->right() : b->left()), b->center().y());
  double bend = std::clamp<double>(std::abs(to.x() - from.x()) / 2, 16, 120);
  QPainterPath path(from);
  path.cubicTo(from + QPointF(bend, 0), to - QPointF(bend, 0), to);
  const QColor color = color_of(*frame.theme, link.kind);
  painter.setPen(QPen(color, 1.6, link.inferred ? Qt::DashLine : Qt::SolidLine));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(path);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawEllipse(from, 2.5, 2.5);
  painter.drawPolygon(QPolygonF({to, to + QPointF(-7, -4), to + QPointF(-7, 4)}));
}

/// Draws where the critical path goes from one row to another. If the view has too many pieces,
/// their steps would cover everything, so only the bars on the rows are drawn.
void paint_path_steps(QPainter& painter, const Frame& frame) {
  auto [first, last] = frame.path->overlapping(frame.mapping.visible());
  if (last - first > static_cast<std::uint32_t>(frame.area_width())) return;
  const std::vector<analyzer::PathPiece>& pieces = frame.model->analysis->critical_path.pieces;
  std::optional<PathLanes::Where> before;
  double before_y = 0;
  QVector<QLineF> lines;
  for (std::uint32_t i = first; i < last; ++i) {
    std::optional<PathLanes::Where> where = frame.path->where(i);
    if (!where || where == before) continue;
    std::optional<QRectF> box = box_at(frame, {where->row, where->lane, 0}, pieces[i].interval);
    if (!box) continue;
    double y = box->bottom() - 1;
    if (before) {
      double x = frame.gutter + frame.mapping.x_of(pieces[i].interval.begin);
      lines << QLineF(x, before_y, x, y);
    }
    before = where;
    before_y = y;
  }
  painter.setPen(QPen(frame.theme->path, 1.4));
  painter.drawLines(lines);
}

/// Draws a flag with a text at a point in time.
void paint_flag(QPainter& painter, const Frame& frame, TimeNs t, int top, const QString& text,
                const QColor& color) {
  double x = frame.gutter + frame.mapping.x_of(t);
  if (x < frame.gutter - 1 || x > frame.size.width()) return;
  painter.setPen(QPen(color, 1, Qt::DashLine));
  painter.drawLine(QPointF(x, top), QPointF(x, frame.size.height()));
  QFontMetrics metrics(frame.font);
  QRectF flag(x, top, metrics.horizontalAdvance(text) + 8, metrics.height() + 1);
  painter.fillRect(flag, color);
  painter.setPen(frame.theme->palette().color(QPalette::HighlightedText));
  painter.drawText(flag, Qt::AlignCenter, text);
}

void paint_measure(QPainter& painter, const Frame& frame, const Overlay& overlay) {
  const Measure& measure = overlay.measure;
  if (!measure) return;
  painter.setFont(frame.font);
  const QColor color = frame.theme->mark;
  const int top = frame.ruler_rect().top();
  paint_flag(painter, frame, *measure.first(), top, QStringLiteral("A"), color);
  if (measure.second())
    paint_flag(painter, frame, *measure.second(), top, QStringLiteral("B"), color);
  std::optional<Interval> span = measure.span(overlay.measured_to);
  if (!span) return;
  double left = std::max<double>(frame.gutter, frame.gutter + frame.mapping.x_of(span->begin));
  double right = std::min<double>(frame.size.width(), frame.gutter + frame.mapping.x_of(span->end));
  if (right < left) return;
  const int y = frame.header_height() + 10;
  painter.setPen(QPen(color, 1.4));
  painter.drawLine(QPointF(left, y), QPointF(right, y));
  QString text = QString::fromStdString(format_duration(span->length()));
  if (span->length().ns > 0)
    text += QStringLiteral(" · ") +
            QString::fromStdString(si(1e9 / static_cast<double>(span->length().ns), "/s"));
  QFontMetrics metrics(frame.font);
  int width = metrics.horizontalAdvance(text) + 12;
  QRectF label(std::clamp<double>((left + right - width) / 2, frame.gutter,
                                  std::max<double>(frame.gutter, frame.size.width() - width)),
               y - metrics.height() / 2.0 - 1, width, metrics.height() + 3);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawRoundedRect(label, 3, 3);
  painter.setPen(frame.theme->palette().color(QPalette::HighlightedText));
  painter.drawText(label, Qt::AlignCenter, text);
}

/// Draws the end of the recorded and of the predicted step, and between them the gain of the fix:
/// the predicted rows are empty there.
void paint_prediction(QPainter& painter, const Frame& frame) {
  const PredictedTimeline& predicted = *frame.predicted;
  const Interval recorded = predicted.step.recorded;
  const TimeNs end = predicted.step.predicted_interval().end;
  const bool shorter = end <= recorded.end;
  const QColor color = shorter ? frame.theme->good : frame.theme->warning;
  const double from = frame.gutter + frame.mapping.x_of(std::min(end, recorded.end));
  const double to = frame.gutter + frame.mapping.x_of(std::max(end, recorded.end));
  const double left = std::clamp<double>(from, frame.gutter - 4, frame.size.width() + 4);
  const double right = std::clamp<double>(to, frame.gutter - 4, frame.size.width() + 4);
  const QString text = QString::fromStdString(predicted.gain_text());
  const QFontMetrics metrics(frame.font);
  const int width = metrics.horizontalAdvance(text) + 12;
  bool told = false;
  painter.setFont(frame.font);
  for (const RowLayout::Shown& shown : frame.layout->shown()) {
    if (frame.model->row(shown.row).kind != RowKind::kPredicted) continue;
    const QRectF box(left, frame.screen_y(shown.y), right - left, shown.height - 1);
    if (box.bottom() < frame.header_height() || box.top() > frame.size.height()) continue;
    painter.setClipRect(clip_of(frame, shown.row));
    QColor ground = color;
    ground.setAlpha(frame.theme->dark ? 56 : 40);
    painter.fillRect(box, ground);
    painter.setPen(Qt::NoPen);
    painter.setBrush(QBrush(color, Qt::BDiagPattern));
    painter.drawRect(box);
    if (told || right < frame.gutter || left > frame.size.width()) continue;
    // Only on the first of them: inside the range, else behind it.
    told = true;
    const double middle = box.center().x() - width / 2.0;
    const double x =
        width <= box.width() ? middle : std::min<double>(right + 3, frame.size.width() - width);
    const QRectF label(x, box.top(), width, std::min<double>(box.height(), metrics.height() + 2));
    painter.setBrush(color);
    painter.drawRoundedRect(label, 3, 3);
    painter.setPen(frame.theme->palette().color(QPalette::HighlightedText));
    painter.drawText(label, Qt::AlignCenter, text);
  }
  painter.setClipRect(
      QRect(frame.gutter, frame.overview_height(), frame.area_width(), frame.size.height()));
  struct Named {
    TimeNs time;
    QString name;
    QColor ink;
    bool before;
  };
  // The most important first: if the step is few pixels wide, not all of them fit.
  const Named named[] = {
      {end, QStringLiteral("predicted end"), color, shorter},
      {recorded.end, QStringLiteral("recorded end"), frame.theme->dim_text, !shorter},
      {recorded.begin, QStringLiteral("step begins"), frame.theme->dim_text, false}};
  const int top = frame.ruler_rect().top();
  std::vector<const Named*> seen;
  std::vector<Flag> flags;
  for (const Named& one : named) {
    const double x = frame.gutter + frame.mapping.x_of(one.time);
    if (x < frame.gutter - 1 || x > frame.size.width()) continue;
    painter.setPen(QPen(one.ink, 1, Qt::DashLine));
    painter.drawLine(QPointF(x, top), QPointF(x, frame.size.height()));
    seen.push_back(&one);
    flags.push_back({x, metrics.horizontalAdvance(one.name) + 8.0, one.before});
  }
  const auto places = place_flags(flags, frame.gutter, frame.size.width());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!places[i]) continue;
    const QRectF at(*places[i], top, flags[i].width, metrics.height() + 1);
    painter.fillRect(at, seen[i]->ink);
    painter.setPen(frame.theme->palette().color(QPalette::HighlightedText));
    painter.drawText(at, Qt::AlignCenter, seen[i]->name);
  }
}

/// Draws the visible bookmarks, but no more than a ruler has room for.
void paint_bookmarks(QPainter& painter, const Frame& frame,
                     const std::vector<Bookmark>& bookmarks) {
  constexpr int kMost = 400;
  const QRect ruler = frame.ruler_rect();
  int drawn = 0;
  for (const Bookmark& bookmark : bookmarks) {
    double x = frame.gutter + frame.mapping.x_of(bookmark.when.begin);
    double end = frame.gutter + frame.mapping.x_of(bookmark.when.end);
    if (x > frame.size.width() || drawn == kMost) break;  // sorted by time
    if (end < frame.gutter) continue;
    ++drawn;
    QColor line = frame.theme->mark;
    painter.setPen(Qt::NoPen);
    painter.setBrush(line);
    if (end > x) painter.drawRect(QRectF(x, ruler.bottom() - 3, std::min(end, 1e5) - x, 3));
    QPointF top(x, ruler.top() + 1);
    painter.drawPolygon(QPolygonF({top, top + QPointF(8, 4), top + QPointF(0, 8)}));
    line.setAlpha(120);
    painter.fillRect(QRectF(x, ruler.top(), 1, frame.size.height() - ruler.top()), line);
  }
}

}  // namespace

Target linked(const TimelineModel& model, const Target& target) {
  if (target.kind == Target::Kind::kPrediction && model.predicted)
    return Target::of(model.predicted->tasks[target.index].event);
  if (target.kind != Target::Kind::kEvent) return {};
  std::vector<EventLink> launch = launch_links(*model.trace, target.event);
  if (launch.empty()) return {};
  return Target::of(launch.front().from == target.event ? launch.front().to : launch.front().from);
}

std::optional<QRectF> box_of(const Frame& frame, const Target& target) {
  std::optional<Place> place = frame.model->find(target);
  if (!place) return std::nullopt;
  return box_at(frame, *place, frame.model->interval_of(target));
}

std::optional<std::size_t> bookmark_at(const Frame& frame, const std::vector<Bookmark>& bookmarks,
                                       double x) {
  constexpr double kNear = 6;
  std::optional<std::size_t> best;
  double distance = kNear;
  for (std::size_t i = 0; i < bookmarks.size(); ++i) {
    double off = std::abs(frame.mapping.x_of(bookmarks[i].when.begin) + 3 - x);
    if (off > distance) continue;
    distance = off;
    best = i;
  }
  return best;
}

void paint_overlay(QPainter& painter, const Frame& frame, const Overlay& overlay) {
  painter.save();
  const QRect area = frame.area_rect();
  const QRect below_overview(frame.gutter, frame.overview_height(), frame.area_width(),
                             frame.size.height());
  painter.setClipRect(below_overview);
  if (!overlay.range.empty()) paint_range(painter, frame, overlay.range);
  if (overlay.bookmarks) paint_bookmarks(painter, frame, *overlay.bookmarks);
  if (overlay.pointer_x >= frame.gutter) {
    QColor line = frame.theme->dim_text;
    line.setAlpha(110);
    int top = frame.overview_height();
    painter.fillRect(QRect(overlay.pointer_x, top, 1, frame.size.height() - top), line);
  }
  if (frame.path && !frame.path->empty()) {
    painter.setClipRect(area);
    paint_path_steps(painter, frame);
  }
  if (frame.predicted) {
    paint_prediction(painter, frame);
    painter.setClipRect(below_overview);
  }
  if (overlay.hovered && overlay.hovered != overlay.selection)
    paint_target(painter, frame, overlay.hovered, frame.theme->text, 1);
  if (overlay.selection) {
    paint_echo(painter, frame, overlay.selection);
    paint_target(painter, frame, overlay.selection, frame.theme->accent, 2);
    painter.setClipRect(area);
    painter.setRenderHint(QPainter::Antialiasing);
    for (const EventLink& link : overlay.links) paint_link(painter, frame, link);
    painter.setRenderHint(QPainter::Antialiasing, false);
  }
  painter.setClipRect(below_overview);
  paint_measure(painter, frame, overlay);
  if (!overlay.zoom_box.isEmpty()) {
    QColor fill = frame.theme->accent;
    fill.setAlpha(40);
    painter.setPen(QPen(frame.theme->accent, 1));
    painter.setBrush(fill);
    painter.drawRect(overlay.zoom_box);
  }
  painter.restore();
  if (overlay.drop_y >= 0)
    painter.fillRect(QRect(0, overlay.drop_y - 1, frame.gutter, 3), frame.theme->accent);
}

}  // namespace headway::gui
