// SPDX-License-Identifier: MIT
#include "gui/pages/roofline_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "common/format.h"
#include "common/text.h"
#include "gui/models/text/vocabulary.h"

namespace headway::gui {
namespace {

constexpr int kMostLabels = 24;
constexpr std::size_t kLabelCharacters = 34;
constexpr double kLeastRadius = 4;
constexpr double kMostRadius = 26;

QString text(const std::string& s) {
  return QString::fromStdString(s);
}

QString decade(double exponent) {
  double value = std::pow(10, exponent);
  return exponent >= 4 ? text(si(value, "")).trimmed() : QString::number(value);
}

}  // namespace

RooflineView::RooflineView(QWidget* parent) : QWidget(parent), card_(new HoverCard(this)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Roofline: work by arithmetic intensity and rate"));
}

void RooflineView::set_roofline(std::shared_ptr<const Roofline> roofline) {
  data_ = std::move(roofline);
  current_.reset();
  card_->hide();
  if (data_ && !data_->points.empty()) {
    auto [low_x, high_x] =
        std::minmax_element(data_->points.begin(), data_->points.end(),
                            [](const auto& a, const auto& b) { return a.intensity < b.intensity; });
    auto [low_y, high_y] =
        std::minmax_element(data_->points.begin(), data_->points.end(),
                            [](const auto& a, const auto& b) { return a.rate < b.rate; });
    double peak = data_->peaks.empty() ? 0 : data_->peaks.front().flops;
    double ridge = data_->bandwidth > 0 && peak > 0 ? peak / data_->bandwidth : 0;
    x_ = LogAxis::over(low_x->intensity / 2, std::max(high_x->intensity * 2, ridge));
    y_ = LogAxis::over(low_y->rate / 2, std::max(high_y->rate * 2, peak));
    setAccessibleDescription(text(data_->text));
  }
  update();
}

void RooflineView::set_theme(const Theme& theme) {
  theme_ = &theme;
  card_->set_theme(theme);
  update();
}

QRectF RooflineView::plot() const {
  int left = fontMetrics().horizontalAdvance(QStringLiteral("100 TFLOP/s")) + 16;
  int bottom = 2 * fontMetrics().height() + 14;
  return QRectF(left, 12, std::max(40, width() - left - 18), std::max(40, height() - 12 - bottom));
}

QPointF RooflineView::at(double intensity, double rate) const {
  QRectF area = plot();
  return {area.left() + x_.position(intensity) * area.width(),
          area.bottom() - y_.position(rate) * area.height()};
}

QPointF RooflineView::place_of(std::size_t point) const {
  return at(data_->points[point].intensity, data_->points[point].rate);
}

double RooflineView::radius_of(const RooflinePoint& point) const {
  return std::clamp(kMostRadius * 1.6 * std::sqrt(point.share), kLeastRadius, kMostRadius);
}

void RooflineView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(rect(), theme_->base);
  if (!data_ || data_->points.empty()) return;
  paint_grid(painter);
  std::vector<QRectF> taken;
  paint_roofs(painter, taken);
  paint_points(painter, taken);
}

void RooflineView::paint_grid(QPainter& painter) const {
  QRectF area = plot();
  const int line = fontMetrics().height();
  for (double e = x_.low; e <= x_.high; ++e) {
    double x = area.left() + (e - x_.low) / (x_.high - x_.low) * area.width();
    painter.setPen(theme_->grid);
    painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
    painter.setPen(theme_->dim_text);
    painter.drawText(QRectF(x - 60, area.bottom() + 4, 120, line), Qt::AlignCenter, decade(e));
  }
  for (double e = y_.low; e <= y_.high; ++e) {
    double y = area.bottom() - (e - y_.low) / (y_.high - y_.low) * area.height();
    painter.setPen(theme_->grid);
    painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
    painter.setPen(theme_->dim_text);
    painter.drawText(QRectF(0, y - line, area.left() - 6, 2 * line),
                     Qt::AlignRight | Qt::AlignVCenter, text(si(std::pow(10, e), "FLOP/s")));
  }
  painter.setPen(theme_->dim_text);
  QRectF below(area.left(), area.bottom() + 6 + line, area.width(), line);
  painter.drawText(below, Qt::AlignRight, tr("FLOP per byte moved →"));
  painter.drawText(below, Qt::AlignLeft, tr("Size: share of kernel time · colour: time class"));
}

void RooflineView::paint_roofs(QPainter& painter, std::vector<QRectF>& taken) const {
  QRectF area = plot();
  painter.save();
  painter.setClipRect(area);
  const double left = std::pow(10, x_.low);
  const double right = std::pow(10, x_.high);
  const double highest = data_->peaks.empty() ? std::pow(10, y_.high) : data_->peaks.front().flops;
  const int line = fontMetrics().height();
  painter.setFont(font());
  if (data_->bandwidth > 0) {
    double end = std::min(right, highest / data_->bandwidth);
    painter.setPen(QPen(theme_->accent, 2));
    painter.drawLine(at(left, left * data_->bandwidth), at(end, end * data_->bandwidth));
  }
  for (std::size_t p = 0; p < data_->peaks.size(); ++p) {
    const ComputePeak& peak = data_->peaks[p];
    double from = data_->bandwidth > 0 ? std::max(left, peak.flops / data_->bandwidth) : left;
    if (from >= right) continue;
    painter.setPen(QPen(theme_->accent, 2, p == 0 ? Qt::SolidLine : Qt::DashLine));
    painter.drawLine(at(from, peak.flops), at(right, peak.flops));
    QString label = QStringLiteral("%1: %2").arg(text(peak.label), text(si(peak.flops, "FLOP/s")));
    int wide = fontMetrics().horizontalAdvance(label);
    QRectF box(area.right() - wide - 6, at(right, peak.flops).y() - line - 1, wide + 4, line);
    // Places the label above its line, else below it: inside the picture, not across the line of
    // another peak, and not over a label. If peaks are close together, only the higher one has a
    // label.
    const auto fits = [&] {
      const auto crosses = [&](const ComputePeak& other) {
        const double y = at(right, other.flops).y();
        return &other != &peak && y > box.top() - 1 && y < box.bottom() + 1;
      };
      return box.top() >= area.top() && std::ranges::none_of(data_->peaks, crosses) &&
             std::ranges::none_of(taken, [&](const QRectF& t) { return t.intersects(box); });
    };
    if (!fits()) box.moveTop(at(right, peak.flops).y() + 2);
    if (!fits()) continue;
    painter.setPen(theme_->accent);
    painter.drawText(box, Qt::AlignRight, label);
    taken.push_back(box);
  }
  if (data_->bandwidth > 0) {
    // Labels the slope where it enters the picture.
    double enter = std::max(left, std::pow(10, y_.low) / data_->bandwidth);
    QString label = tr("Memory: %1").arg(text(si(data_->bandwidth, "B/s")));
    QPointF start = at(enter, enter * data_->bandwidth);
    double slope_y = at(enter * 3, enter * 3 * data_->bandwidth).y();
    QRectF box(start.x() + 6, std::max(area.top(), slope_y - line - 4),
               fontMetrics().horizontalAdvance(label) + 4, line);
    painter.setPen(theme_->accent);
    painter.drawText(box, Qt::AlignLeft, label);
    taken.push_back(box);
  }
  painter.restore();
}

void RooflineView::paint_points(QPainter& painter, std::vector<QRectF>& taken) const {
  QRectF area = plot();
  // Draws small points last, so that large ones do not hide them.
  for (std::size_t p = 0; p < data_->points.size(); ++p) {
    const RooflinePoint& point = data_->points[p];
    double radius = radius_of(point);
    QColor fill = theme_->color(point.color);
    fill.setAlpha(190);
    painter.setBrush(fill);
    painter.setPen(current_ && *current_ == p ? QPen(theme_->accent, 3) : QPen(theme_->border, 1));
    painter.drawEllipse(place_of(p), radius, radius);
  }
  painter.setBrush(Qt::NoBrush);
  // A name over another circle would seem to belong to that circle.
  for (std::size_t p = 0; p < data_->points.size(); ++p) {
    double radius = radius_of(data_->points[p]);
    taken.emplace_back(place_of(p) - QPointF(radius, radius), QSizeF(2 * radius, 2 * radius));
  }
  int labels = 0;
  const int line = fontMetrics().height();
  for (std::size_t p = 0; p < data_->points.size() && labels < kMostLabels; ++p) {
    const RooflinePoint& point = data_->points[p];
    QString label = text(shorten(point.name, kLabelCharacters));
    double wide = fontMetrics().horizontalAdvance(label) + 2;
    double gap = radius_of(point) + 3;
    QPointF middle = place_of(p);
    const QPointF places[] = {{middle.x() + gap, middle.y() - line / 2.0},
                              {middle.x() - gap - wide, middle.y() - line / 2.0},
                              {middle.x() - wide / 2, middle.y() - gap - line},
                              {middle.x() - wide / 2, middle.y() + gap}};
    for (const QPointF& place : places) {
      QRectF box(place.x(), place.y(), wide, line);
      bool free = std::none_of(taken.begin(), taken.end(),
                               [&](const QRectF& other) { return other.intersects(box); });
      if (!free || !area.contains(box)) continue;
      painter.setPen(theme_->text);
      painter.drawText(box, Qt::AlignLeft, label);
      taken.push_back(box);
      ++labels;
      break;
    }
  }
}

std::optional<std::size_t> RooflineView::point_at(const QPointF& where) const {
  if (!data_) return std::nullopt;
  // Returns the topmost point, which is the smallest.
  for (std::size_t p = data_->points.size(); p-- > 0;) {
    QPointF d = where - place_of(p);
    if (std::hypot(d.x(), d.y()) <= radius_of(data_->points[p]) + 1) return p;
  }
  return std::nullopt;
}

QStringList RooflineView::describe(std::size_t index) const {
  const RooflinePoint& point = data_->points[index];
  QStringList lines{text(point.name)};
  lines << tr("%1 of the kernel time (%2)")
               .arg(text(format_percent(point.share)), text(format_duration(point.time)));
  lines << tr("%1, %2, %3 FLOP per byte")
               .arg(text(si(point.rate, "FLOP/s")), text(si(point.byte_rate, "B/s")))
               .arg(point.intensity, 0, 'g', 3);
  if (point.attained > 0)
    lines << tr("%1 of what %2 allows")
                 .arg(text(format_percent(point.attained)),
                      point.memory_bound ? tr("the memory") : tr("the arithmetic"));
  lines << tr("Click to see the longest on the timeline");
  return lines;
}

void RooflineView::mouseMoveEvent(QMouseEvent* event) {
  std::optional<std::size_t> point = point_at(event->position());
  setCursor(point ? Qt::PointingHandCursor : Qt::ArrowCursor);
  if (!point) return card_->hide();
  card_->show_at(event->position().toPoint(), describe(*point));
}

void RooflineView::leaveEvent(QEvent*) {
  card_->hide();
}

void RooflineView::mouseReleaseEvent(QMouseEvent* event) {
  std::optional<std::size_t> point = point_at(event->position());
  if (!point || event->button() != Qt::LeftButton) return;
  set_current(*point);
  emit followed(data_->points[*point].longest);
}

void RooflineView::set_current(std::size_t point) {
  current_ = point;
  setAccessibleDescription(describe(point).join(QStringLiteral(", ")));
  update();
}

void RooflineView::keyPressEvent(QKeyEvent* event) {
  if (!data_ || data_->points.empty()) return QWidget::keyPressEvent(event);
  std::size_t last = data_->points.size() - 1;
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Up:
      return set_current(current_ && *current_ > 0 ? *current_ - 1 : 0);
    case Qt::Key_Right:
    case Qt::Key_Down:
      return set_current(current_ ? std::min(last, *current_ + 1) : 0);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (current_) emit followed(data_->points[*current_].longest);
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

}  // namespace headway::gui
