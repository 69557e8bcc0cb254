// SPDX-License-Identifier: MIT
#include "gui/pages/histogram_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "common/format.h"

namespace headway::gui {
namespace {

constexpr int kLeastBins = 5;
constexpr int kMostBins = 40;

QString time(DurationNs t) {
  return QString::fromStdString(format_duration(t));
}

}  // namespace

HistogramView::HistogramView(QWidget* parent) : QWidget(parent), card_(new HoverCard(this)) {
  setMouseTracking(true);
  setAccessibleName(tr("Steps by length"));
}

void HistogramView::set_chart(const StepChart* chart, const StepSpread& spread) {
  spread_ = spread;
  int bins = static_cast<int>(std::clamp<std::int64_t>(spread.steps, kLeastBins, kMostBins));
  histogram_ = chart ? histogram_of(*chart, bins) : StepHistogram();
  setAccessibleDescription(QString::fromStdString(spread.text));
  card_->hide();
  update();
}

void HistogramView::set_theme(const Theme& theme) {
  theme_ = &theme;
  card_->set_theme(theme);
  update();
}

QRect HistogramView::plot() const {
  int line = fontMetrics().height();
  return rect().adjusted(14, line + 10, -14, -2 * line - 12);
}

int HistogramView::x_of(DurationNs length) const {
  QRect area = plot();
  double bins = static_cast<double>(histogram_.bins.size());
  double at = static_cast<double>((length - histogram_.begin).ns) /
              std::max(1.0, static_cast<double>(histogram_.width.ns) * bins);
  return area.left() + static_cast<int>(std::clamp(at, 0.0, 1.0) * area.width());
}

void HistogramView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_->base);
  QRect area = plot();
  if (histogram_.bins.empty() || area.height() < 10) return;
  painter.setPen(theme_->dim_text);
  const int line = fontMetrics().height();
  painter.drawText(QRect(area.left(), 4, area.width(), line), Qt::AlignLeft,
                   tr("Steady steps by length"));
  const int count = static_cast<int>(histogram_.bins.size());
  for (int b = 0; b < count; ++b) {
    std::uint32_t steps = histogram_.bins[static_cast<std::size_t>(b)];
    if (!steps) continue;
    int left = area.left() + b * area.width() / count;
    int right = area.left() + (b + 1) * area.width() / count;
    int height = std::max(
        2, static_cast<int>(static_cast<double>(steps) / histogram_.highest * area.height()));
    DurationNs begin = histogram_.begin + histogram_.width * b;
    bool outlier = spread_.limit.ns > 0 && begin > spread_.limit;
    painter.fillRect(QRect(left, area.bottom() - height + 1, std::max(1, right - left - 1), height),
                     outlier ? theme_->error : theme_->counter);
  }
  painter.fillRect(QRect(area.left(), area.bottom() + 1, area.width(), 1), theme_->border);
  painter.setPen(QPen(theme_->accent, 1, Qt::DashLine));
  painter.drawLine(x_of(spread_.p50), area.top(), x_of(spread_.p50), area.bottom());
  painter.setPen(theme_->dim_text);
  DurationNs end = histogram_.begin + histogram_.width * count;
  QRect axis(area.left(), area.bottom() + 4, area.width(), line);
  painter.drawText(axis, Qt::AlignLeft, time(histogram_.begin));
  painter.drawText(
      axis, Qt::AlignRight,
      (spread_.most > end + histogram_.width ? tr("%1 and more") : QStringLiteral("%1"))
          .arg(time(end)));
  painter.setPen(theme_->accent);
  painter.drawText(axis.translated(0, line + 1), Qt::AlignLeft,
                   tr("- - median %1").arg(time(spread_.p50)));
  if (spread_.outliers.empty()) return;
  painter.setPen(theme_->error);
  painter.drawText(axis.translated(0, line + 1), Qt::AlignRight, tr("■ outliers"));
}

void HistogramView::mouseMoveEvent(QMouseEvent* event) {
  QRect area = plot();
  QPoint at = event->position().toPoint();
  if (histogram_.bins.empty() || !area.contains(at)) return card_->hide();
  int count = static_cast<int>(histogram_.bins.size());
  int bin = std::clamp((at.x() - area.left()) * count / std::max(1, area.width()), 0, count - 1);
  DurationNs begin = histogram_.begin + histogram_.width * bin;
  card_->show_at(at, {tr("%1 to %2").arg(time(begin), time(begin + histogram_.width)),
                      tr("%1 of %2 steps")
                          .arg(histogram_.bins[static_cast<std::size_t>(bin)])
                          .arg(spread_.steps)});
}

void HistogramView::leaveEvent(QEvent*) {
  card_->hide();
}

}  // namespace headway::gui
