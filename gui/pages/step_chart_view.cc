// SPDX-License-Identifier: MIT
#include "gui/pages/step_chart_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "common/format.h"

namespace headway::gui {
namespace {

constexpr int kLeastSlot = 4;  ///< minimum width in pixels at which bars can be distinguished
constexpr int kWidestSlot = 46;
constexpr int kRight = 14;
constexpr int kTop = 22;

/// 1, 2 or 5 times a power of ten, so that there are at most `most` steps up to `value`.
double round_step(double value, int most) {
  double step = std::pow(10, std::floor(std::log10(std::max(1.0, value / most))));
  for (double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (step * factor * most >= value) return step * factor;
  }
  return step * 10;
}

}  // namespace

struct StepChartView::Shape {
  QRect plot;
  double slot = 1;  ///< width of one
  std::vector<StepChart::Slot> places;

  QRect slot_rect(std::size_t i) const {
    int left = plot.left() + static_cast<int>(static_cast<double>(i) * slot);
    int right = plot.left() + static_cast<int>(static_cast<double>(i + 1) * slot);
    int gap = slot >= 8 ? std::min(6, static_cast<int>(slot / 5)) : slot >= 3 ? 1 : 0;
    return {left, plot.top(), std::max(1, right - left - gap), plot.height()};
  }
};

StepChartView::StepChartView(QWidget* parent) : QWidget(parent), card_(new HoverCard(this)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumHeight(160);
  setAccessibleName(tr("Steps, one bar each"));
}

void StepChartView::set_chart(const StepChart* chart) {
  chart_ = chart;
  first_ = 0;
  last_ = chart ? static_cast<std::uint32_t>(chart->bars.size()) : 0;
  current_.reset();
  outliers_.clear();
  card_->hide();
  update();
}

void StepChartView::set_outliers(std::map<std::uint32_t, QString> reasons) {
  outliers_ = std::move(reasons);
  update();
}

void StepChartView::set_theme(const Theme& theme) {
  theme_ = &theme;
  card_->set_theme(theme);
  update();
}

StepChartView::Shape StepChartView::shape() const {
  Shape shape;
  QFontMetrics metrics(font());
  int left = metrics.horizontalAdvance(QStringLiteral("0000 ms")) + 14;
  int bottom = metrics.height() * 2 + 10;
  shape.plot = QRect(left, kTop, std::max(1, width() - left - kRight),
                     std::max(1, height() - kTop - bottom));
  if (!chart_) return shape;
  shape.places = chart_->spread(
      first_, last_, static_cast<std::uint32_t>(std::max(1, shape.plot.width() / kLeastSlot)));
  if (!shape.places.empty())
    shape.slot = std::min<double>(kWidestSlot, static_cast<double>(shape.plot.width()) /
                                                   static_cast<double>(shape.places.size()));
  return shape;
}

void StepChartView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_->base);
  if (!chart_ || chart_->bars.empty()) return;
  Shape shape = this->shape();
  paint_axis(painter, shape);
  for (std::size_t i = 0; i < shape.places.size(); ++i) {
    const StepChart::Slot& slot = shape.places[i];
    QRect rect = shape.slot_rect(i);
    paint_bar(painter, shape, rect, chart_->bars[slot.slowest]);
    if (current_ && *current_ >= slot.first && *current_ < slot.last) {
      painter.setPen(QPen(theme_->accent, 2));
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(rect.adjusted(-1, 0, 1, 1));
    }
  }
  paint_cut_values(painter, shape);
  paint_numbers(painter, shape);
}

void StepChartView::paint_axis(QPainter& painter, const Shape& shape) const {
  const double most = static_cast<double>(chart_->axis_max.ns);
  const double step = round_step(most, std::max(2, shape.plot.height() / 60));
  auto y_of = [&](double ns) {
    return shape.plot.bottom() - static_cast<int>(ns / std::max(1.0, most) * shape.plot.height());
  };
  for (double value = 0; value <= most * 1.0001; value += step) {
    painter.fillRect(QRect(shape.plot.left(), y_of(value), shape.plot.width(), 1), theme_->grid);
    painter.setPen(theme_->dim_text);
    painter.drawText(QRect(0, y_of(value) - 10, shape.plot.left() - 6, 20),
                     Qt::AlignRight | Qt::AlignVCenter,
                     QString::fromStdString(format_duration({static_cast<std::int64_t>(value)})));
  }
  if (chart_->median.ns <= 0) return;
  int y = y_of(static_cast<double>(chart_->median.ns));
  painter.setPen(QPen(theme_->accent, 1, Qt::DashLine));
  painter.drawLine(shape.plot.left(), y, shape.plot.right(), y);
  painter.setPen(theme_->accent);
  painter.drawText(QRect(shape.plot.left(), 2, shape.plot.width(), kTop - 4),
                   Qt::AlignRight | Qt::AlignVCenter,
                   tr("- - median of the steady steps: %1")
                       .arg(QString::fromStdString(format_duration(chart_->median))));
}

void StepChartView::paint_bar(QPainter& painter, const Shape& shape, const QRect& slot,
                              const StepBar& bar) const {
  const double scale =
      shape.plot.height() / std::max(1.0, static_cast<double>(chart_->axis_max.ns));
  double done = 0;
  auto piece = [&](DurationNs length, ColorRole role) {
    if (length.ns <= 0) return;
    int from = static_cast<int>(done * scale);
    done += static_cast<double>(length.ns);
    int to = std::min(shape.plot.height(), static_cast<int>(done * scale));
    QBrush fill = theme_->brush(role);
    if (!bar.steady)
      fill = QColor::fromRgb(blend(theme_->color(role).rgb(), theme_->base.rgb(), 0.55));
    if (to > from)
      painter.fillRect(QRect(slot.left(), shape.plot.bottom() - to, slot.width(), to - from), fill);
  };
  if (chart_->has_classes) {
    for (analyzer::TimeClass c : chart_->classes) piece(bar.times[c], role_of(c));
  } else {
    piece(bar.length(), ColorRole::kOtherPhase);
  }
  // A notch in the background colour marks a bar that is cut off.
  if (bar.length() > chart_->axis_max)
    painter.fillRect(QRect(slot.left(), shape.plot.top() + 6, slot.width(), 3), theme_->base);
}

/// Writes the values of bars that are cut off, where neither another value nor another cut bar is
/// in the way.
void StepChartView::paint_cut_values(QPainter& painter, const Shape& shape) const {
  painter.setPen(theme_->text);
  int end = shape.plot.right();
  for (std::size_t i = shape.places.size(); i-- > 0;) {
    const StepBar& bar = chart_->bars[shape.places[i].slowest];
    if (bar.length() <= chart_->axis_max) continue;
    const QRect slot = shape.slot_rect(i);
    const QString text = QString::fromStdString(format_duration(bar.length()));
    const int width = painter.fontMetrics().horizontalAdvance(text);
    if (slot.right() + width + 8 < end)
      painter.drawText(QRect(slot.right() + 4, shape.plot.top(), width + 4, 16), Qt::AlignLeft,
                       text);
    end = slot.left();
  }
}

void StepChartView::paint_numbers(QPainter& painter, const Shape& shape) const {
  QFontMetrics metrics(font());
  int next_free = 0;
  for (std::size_t i = 0; i < shape.places.size(); ++i) {
    const StepBar& bar = chart_->bars[shape.places[i].slowest];
    QRect slot = shape.slot_rect(i);
    bool outlier = outliers_.contains(shape.places[i].slowest);
    if (!bar.steady || outlier)
      painter.fillRect(QRect(slot.left(), shape.plot.bottom() + 2, slot.width(), 3),
                       outlier ? theme_->error : theme_->warning);
    QString text = QString::number(bar.number);
    int width = metrics.horizontalAdvance(text);
    int x = slot.center().x() - width / 2;
    if (x < next_free) continue;
    next_free = x + width + 10;
    painter.setPen(theme_->dim_text);
    painter.drawText(QRect(x, shape.plot.bottom() + 6, width + 2, metrics.height()), Qt::AlignLeft,
                     text);
  }
  QString note = tr("Step number");
  bool dropped = std::any_of(chart_->bars.begin(), chart_->bars.end(),
                             [](const StepBar& bar) { return !bar.steady; });
  if (dropped) note += tr(" · pale and underlined: excluded (first, last, cut or warm-up)");
  if (!outliers_.empty()) note += tr(" · underlined in red: outliers");
  if (!shape.places.empty() && shape.places.size() < last_ - first_)
    note += tr(" · each bar is the slowest of up to %1 steps; zoom in with the wheel")
                .arg((last_ - first_ + shape.places.size() - 1) / shape.places.size());
  painter.setPen(theme_->dim_text);
  QRect line(shape.plot.left(), height() - metrics.height() - 3, shape.plot.width(),
             metrics.height());
  painter.drawText(line, Qt::AlignLeft, metrics.elidedText(note, Qt::ElideRight, line.width()));
}

std::optional<std::uint32_t> StepChartView::bar_at(const QPoint& point) const {
  Shape shape = this->shape();
  if (!chart_ || shape.places.empty() || point.x() < shape.plot.left()) return std::nullopt;
  std::size_t i = static_cast<std::size_t>((point.x() - shape.plot.left()) / shape.slot);
  if (i >= shape.places.size()) return std::nullopt;
  return shape.places[i].slowest;
}

QPoint StepChartView::place_of(std::uint32_t bar) const {
  Shape shape = this->shape();
  for (std::size_t i = 0; i < shape.places.size(); ++i) {
    if (bar >= shape.places[i].first && bar < shape.places[i].last)
      return {shape.slot_rect(i).center().x(), shape.plot.bottom() - 2};
  }
  return {};
}

QStringList StepChartView::describe_bar(std::uint32_t index, std::uint32_t shared) const {
  const StepBar& bar = chart_->bars[index];
  QStringList lines{
      tr("Step %1: %2").arg(bar.number).arg(QString::fromStdString(format_duration(bar.length())))};
  if (shared > 1) lines << tr("the slowest of the %1 steps in this bar").arg(shared);
  if (!bar.steady) lines << tr("excluded: first, last, cut or warm-up");
  if (auto outlier = outliers_.find(index); outlier != outliers_.end())
    lines << tr("Outlier: %1").arg(outlier->second);
  std::vector<analyzer::TimeClass> order = chart_->classes;
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return bar.times[a] > bar.times[b]; });
  for (std::size_t i = 0; i < std::min<std::size_t>(6, order.size()); ++i) {
    DurationNs time = bar.times[order[i]];
    if (time.ns <= 0) break;
    std::string_view label = analyzer::info(order[i]).label;
    lines << QStringLiteral("%1: %2 · %3")
                 .arg(QString::fromUtf8(label.data(), static_cast<qsizetype>(label.size())),
                      QString::fromStdString(format_duration(time)),
                      QString::fromStdString(format_percent(ratio(time, bar.length()))));
  }
  lines << tr("Click to see it on the timeline");
  return lines;
}

void StepChartView::mouseMoveEvent(QMouseEvent* event) {
  QPoint at = event->position().toPoint();
  std::optional<std::uint32_t> bar = bar_at(at);
  if (!bar) return card_->hide();
  std::uint32_t shared = 1;
  for (const StepChart::Slot& slot : shape().places) {
    if (slot.slowest == *bar) shared = slot.last - slot.first;
  }
  card_->show_at(at, describe_bar(*bar, shared));
}

void StepChartView::leaveEvent(QEvent*) {
  card_->hide();
}

void StepChartView::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (std::optional<std::uint32_t> bar = bar_at(event->position().toPoint())) {
    set_current(*bar);
    emit bar_followed(*bar);
  }
}

/// Zooms the steps at the pointer.
void StepChartView::wheelEvent(QWheelEvent* event) {
  if (!chart_ || chart_->bars.empty()) return;
  Shape shape = this->shape();
  const double count = last_ - first_;
  const double total = static_cast<double>(chart_->bars.size());
  double at =
      std::clamp((event->position().x() - shape.plot.left()) / shape.plot.width(), 0.0, 1.0);
  double wanted = std::clamp(count * std::pow(1.25, -event->angleDelta().y() / 120.0),
                             std::min(total, 8.0), total);
  double from = std::clamp(first_ + at * (count - wanted), 0.0, total - wanted);
  first_ = static_cast<std::uint32_t>(from);
  last_ = std::min(static_cast<std::uint32_t>(total),
                   first_ + static_cast<std::uint32_t>(std::ceil(wanted)));
  card_->hide();
  update();
  event->accept();
}

void StepChartView::set_current(std::uint32_t bar) {
  current_ = bar;
  setAccessibleDescription(describe_bar(bar, 1).join(QStringLiteral(", ")));
  update();
}

void StepChartView::keyPressEvent(QKeyEvent* event) {
  if (!chart_ || chart_->bars.empty()) return QWidget::keyPressEvent(event);
  std::uint32_t last = static_cast<std::uint32_t>(chart_->bars.size()) - 1;
  switch (event->key()) {
    case Qt::Key_Left:
      return set_current(current_ ? (*current_ > 0 ? *current_ - 1 : 0) : 0);
    case Qt::Key_Right:
      return set_current(current_ ? std::min(*current_ + 1, last) : 0);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (current_) emit bar_followed(*current_);
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

}  // namespace headway::gui
