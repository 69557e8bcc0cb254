// SPDX-License-Identifier: MIT
#include "gui/timeline/overlay_pass.h"

#include <QPainterPath>
#include <algorithm>

#include "common/format.h"

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

void paint_box(QPainter& painter, const Frame& frame, const Target& target, const QColor& color,
               double width) {
  std::optional<QRectF> box = box_of(frame, target);
  if (!box) return;
  // A pen along edges far outside of the screen would be clipped segment by segment.
  double left = std::max<double>(box->left(), frame.gutter - 10);
  double right = std::min<double>(box->right(), frame.size.width() + 10);
  if (right < left) return;
  painter.setPen(QPen(color, width));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(QRectF(left, box->top(), right - left, box->height()));
}

void paint_link(QPainter& painter, const Frame& frame, const Target& target) {
  Target other = linked(*frame.model, target);
  if (!other) return;
  std::optional<QRectF> a = box_of(frame, target);
  std::optional<QRectF> b = box_of(frame, other);
  if (!a || !b) return;
  const bool from_call = target.event.kind == EventRef::Kind::kCall;
  const QRectF& call = from_call ? *a : *b;
  const QRectF& op = from_call ? *b : *a;
  // Far away ends are pulled in, so that the curve stays in a range that painting can handle.
  auto near = [&](double x) { return std::clamp<double>(x, -4000, frame.size.width() + 4000); };
  QPointF from(near(call.left() + std::min(call.width(), 6.0) / 2), call.center().y());
  QPointF to(near(op.left()), op.center().y());
  double bend = std::clamp<double>(std::abs(to.x() - from.x()) / 2, 16, 120);
  QPainterPath path(from);
  path.cubicTo(from + QPointF(bend, 0), to - QPointF(bend, 0), to);
  painter.setPen(QPen(frame.theme->accent, 1.6));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(path);
  painter.setPen(Qt::NoPen);
  painter.setBrush(frame.theme->accent);
  painter.drawEllipse(from, 2.5, 2.5);
  painter.drawPolygon(QPolygonF({to, to + QPointF(-7, -4), to + QPointF(-7, 4)}));
}

}  // namespace

Target linked(const TimelineModel& model, const Target& target) {
  if (target.kind != Target::Kind::kEvent) return {};
  const trace::Trace& trace = *model.trace;
  if (target.event.kind == EventRef::Kind::kCall) {
    trace::DeviceOpId op = trace.calls.op[target.event.index];
    return op.valid() ? Target::of(EventRef::of(op)) : Target{};
  }
  if (target.event.kind == EventRef::Kind::kDeviceOp) {
    trace::CallId call = trace.device_ops.call[target.event.index];
    return call.valid() ? Target::of(EventRef::of(call)) : Target{};
  }
  return {};
}

std::optional<QRectF> box_of(const Frame& frame, const Target& target) {
  std::optional<Place> place = frame.model->find(target);
  if (!place) return std::nullopt;
  Interval when = frame.model->interval_of(target);
  double left = frame.gutter + frame.mapping.x_of(when.begin);
  double right = std::max(left + 1, frame.gutter + frame.mapping.x_of(when.end));
  if (!place->row.valid()) {
    QRect steps = frame.steps_rect();
    return QRectF(left, steps.top() + 1, right - left, steps.height() - 3);
  }
  std::optional<std::size_t> index = frame.layout->index_of(place->row);
  if (!index) return std::nullopt;
  const RowLayout::Shown& shown = frame.layout->shown()[*index];
  bool hidden = shown.row != place->row || place->lane >= shown.lanes;
  std::int64_t y = hidden ? shown.y : frame.layout->lane_y(shown, place->lane);
  int height = hidden ? shown.height : frame.layout->metrics().lane;
  return QRectF(left, frame.screen_y(y), right - left, height - 1);
}

void paint_overlay(QPainter& painter, const Frame& frame, const Overlay& overlay) {
  painter.save();
  painter.setClipRect(
      QRect(frame.gutter, frame.overview_height(), frame.area_width(), frame.size.height()));
  if (!overlay.range.empty()) paint_range(painter, frame, overlay.range);
  if (overlay.pointer_x >= frame.gutter) {
    QColor line = frame.theme->dim_text;
    line.setAlpha(110);
    int top = frame.overview_height();
    painter.fillRect(QRect(overlay.pointer_x, top, 1, frame.size.height() - top), line);
  }
  QRect rows = frame.area_rect();
  painter.setClipRect(rows.united(frame.steps_rect()));
  if (overlay.hovered && overlay.hovered != overlay.selection)
    paint_box(painter, frame, overlay.hovered, frame.theme->text, 1);
  if (overlay.selection) {
    paint_box(painter, frame, overlay.selection, frame.theme->accent, 2);
    painter.setClipRect(rows);
    painter.setRenderHint(QPainter::Antialiasing);
    paint_link(painter, frame, overlay.selection);
  }
  painter.restore();
}

}  // namespace headway::gui
