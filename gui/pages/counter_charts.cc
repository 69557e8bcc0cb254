// SPDX-License-Identifier: MIT
#include "gui/pages/counter_charts.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "gui/models/timeline/ticks.h"

namespace headway::gui {
namespace {

constexpr int kChart = 84;  ///< height of a plot
constexpr int kRight = 14;
constexpr int kDragFrom = 4;  ///< movement in pixels from which a press is a drag

QString text(const std::string& s) {
  return QString::fromStdString(s);
}

}  // namespace

CounterCharts::CounterCharts(QWidget* parent) : QWidget(parent), card_(new HoverCard(this)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Memory counters over time"));
}

void CounterCharts::set_data(std::shared_ptr<const MemoryUsage> usage, Interval bounds) {
  data_ = std::move(usage);
  bounds_ = bounds;
  mapping_ = TimeMapping(bounds_, std::max(1, plot(0).width()));
  setAccessibleDescription(data_ ? text(data_->text) : QString());
  card_->hide();
  updateGeometry();
  update();
}

void CounterCharts::set_theme(const Theme& theme) {
  theme_ = &theme;
  card_->set_theme(theme);
  update();
}

int CounterCharts::axis_width() const {
  return fontMetrics().horizontalAdvance(QStringLiteral("000.0 GB")) + 16;
}

QRect CounterCharts::plot(std::size_t chart) const {
  int pitch = kChart + fontMetrics().height() + 16;
  return {axis_width(), static_cast<int>(chart) * pitch + fontMetrics().height() + 10,
          std::max(1, width() - axis_width() - kRight), kChart};
}

QSize CounterCharts::sizeHint() const {
  std::size_t charts = data_ ? std::max<std::size_t>(1, data_->series.size()) : 1;
  return {640, plot(charts - 1).bottom() + fontMetrics().height() + 16};
}

void CounterCharts::set_mapping(const TimeMapping& mapping) {
  mapping_ = mapping;
  card_->hide();
  update();
}

void CounterCharts::resizeEvent(QResizeEvent*) {
  mapping_ = mapping_.resized(std::max(1, plot(0).width()));
}

void CounterCharts::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(event->rect(), theme_->base);
  if (!data_ || data_->series.empty()) return;
  ColumnGrid grid(mapping_);
  for (std::size_t i = 0; i < data_->series.size(); ++i) {
    if (plot(i).adjusted(-axis_width(), -40, kRight, 40).intersects(event->rect()))
      paint_chart(painter, i, grid);
  }
  paint_times(painter);
}

void CounterCharts::paint_chart(QPainter& painter, std::size_t chart,
                                const ColumnGrid& grid) const {
  const MemoryUsage::Series& series = data_->series[chart];
  QRect area = plot(chart);
  const int line = fontMetrics().height();
  QFont bold = font();
  bold.setBold(true);
  painter.setFont(bold);
  painter.setPen(theme_->text);
  QRect title(area.left(), area.top() - line - 4, area.width(), line);
  painter.drawText(title, Qt::AlignLeft, text(series.title));
  int used = QFontMetrics(bold).horizontalAdvance(text(series.title)) + 14;
  painter.setFont(font());
  painter.setPen(theme_->dim_text);
  QRect rest = title.adjusted(used, 0, 0, 0);
  QString words = tr("peak %1").arg(text(counter_value(series.peak, series.unit)));
  if (!series.doc.empty()) words += QStringLiteral(" · ") + text(series.doc);
  painter.drawText(rest, Qt::AlignLeft,
                   fontMetrics().elidedText(words, Qt::ElideRight, rest.width()));
  double low = series.lane.low();
  double high = std::max(series.lane.high(), low + 1e-9);
  auto y_of = [&](double value) {
    return area.bottom() -
           static_cast<int>(std::lround((value - low) / (high - low) * area.height()));
  };
  for (double share : {0.0, 0.5, 1.0}) {
    double value = low + share * (high - low);
    painter.fillRect(QRect(area.left(), y_of(value), area.width(), 1), theme_->grid);
    painter.setPen(theme_->dim_text);
    painter.drawText(QRect(0, y_of(value) - line / 2, area.left() - 6, line),
                     Qt::AlignRight | Qt::AlignVCenter, text(counter_value(value, series.unit)));
  }
  std::vector<CounterColumn> columns;
  series.lane.collect(grid, columns);
  for (const CounterColumn& column : columns) {
    int x = area.left() + column.x;
    int top = y_of(column.high);
    painter.fillRect(QRect(x, top, 1, std::max(1, y_of(std::min(0.0, low)) - top)),
                     theme_->counter_fill);
    painter.fillRect(QRect(x, top, 1, std::max(2, y_of(column.low) - top)), theme_->counter);
  }
  painter.setPen(theme_->border);
  painter.drawRect(area.adjusted(0, 0, 0, 0));
}

void CounterCharts::paint_times(QPainter& painter) const {
  Ticks ticks = make_ticks(mapping_, 110);
  QRect last = plot(data_->series.size() - 1);
  painter.setPen(theme_->dim_text);
  for (const Ticks::Tick& tick : ticks.ticks) {
    if (!tick.major) continue;
    int x = last.left() + static_cast<int>(mapping_.x_of(tick.time));
    if (x < last.left() || x > last.right()) continue;
    painter.fillRect(QRect(x, last.bottom(), 1, 5), theme_->border);
    int wide = fontMetrics().horizontalAdvance(text(tick.label));
    int left = std::clamp(x - wide / 2, last.left(), std::max(last.left(), width() - wide - 2));
    painter.drawText(QRect(left, last.bottom() + 6, wide + 2, fontMetrics().height()),
                     Qt::AlignLeft, text(tick.label));
  }
  if (!ticks.base.empty())
    painter.drawText(QRect(0, last.bottom() + 6, last.left() - 6, fontMetrics().height()),
                     Qt::AlignRight, text(ticks.base) + QStringLiteral(" +"));
}

void CounterCharts::wheelEvent(QWheelEvent* event) {
  // The wheel without Ctrl scrolls the charts, because there may be many.
  if (!(event->modifiers() & Qt::ControlModifier) || !data_) return QWidget::wheelEvent(event);
  double factor = std::pow(1.25, event->angleDelta().y() / 120.0);
  set_mapping(mapping_.zoomed(factor, event->position().x() - axis_width(), bounds_));
  event->accept();
}

void CounterCharts::mousePressEvent(QMouseEvent* event) {
  pressed_ = event->position().toPoint();
  pressed_mapping_ = mapping_;
  dragged_ = false;
}

void CounterCharts::mouseMoveEvent(QMouseEvent* event) {
  if (!data_) return;
  QPoint at = event->position().toPoint();
  if (event->buttons() & Qt::LeftButton) {
    dragged_ = dragged_ || std::abs(at.x() - pressed_.x()) > kDragFrom;
    if (dragged_) set_mapping(pressed_mapping_.panned(pressed_.x() - at.x(), bounds_));
    return;
  }
  for (std::size_t i = 0; i < data_->series.size(); ++i) {
    QRect area = plot(i);
    if (!area.contains(at)) continue;
    TimeNs time = mapping_.time_at(at.x() - area.left());
    std::optional<double> value = data_->series[i].lane.value_at(time);
    card_->show_at(
        at, {value ? text(counter_value(*value, data_->series[i].unit)) : tr("no sample here"),
             text(data_->series[i].title),
             tr("at %1").arg(text(format_time(
                 time, {static_cast<std::int64_t>(std::max(1.0, mapping_.ns_per_pixel()))}))),
             tr("Click: show on the timeline · Ctrl+wheel: zoom · drag: move")});
    return;
  }
  card_->hide();
}

void CounterCharts::mouseReleaseEvent(QMouseEvent* event) {
  if (!data_ || dragged_ || event->button() != Qt::LeftButton) return;
  QPoint at = event->position().toPoint();
  if (at.x() >= axis_width() && at.x() < width() - kRight)
    emit time_followed(mapping_.time_at(at.x() - axis_width()));
}

void CounterCharts::keyPressEvent(QKeyEvent* event) {
  double middle = plot(0).width() / 2.0;
  switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_W:
      return set_mapping(mapping_.zoomed(1.25, middle, bounds_));
    case Qt::Key_Minus:
    case Qt::Key_S:
      return set_mapping(mapping_.zoomed(0.8, middle, bounds_));
    case Qt::Key_Left:
    case Qt::Key_A:
      return set_mapping(mapping_.panned(-middle / 4, bounds_));
    case Qt::Key_Right:
    case Qt::Key_D:
      return set_mapping(mapping_.panned(middle / 4, bounds_));
    case Qt::Key_F:
      return set_mapping(TimeMapping(bounds_, plot(0).width()));
    case Qt::Key_Return:
    case Qt::Key_Enter:
      emit time_followed(mapping_.time_at(middle));
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

void CounterCharts::leaveEvent(QEvent*) {
  card_->hide();
}

}  // namespace headway::gui
