// SPDX-License-Identifier: MIT
#include "gui/pages/duration_histogram_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <vector>

#include "common/format.h"

namespace headway::gui {
namespace {

QString time(DurationNs t) {
  return QString::fromStdString(format_duration(t));
}

QString count(std::int64_t n) {
  return QString::fromStdString(format_count(n));
}

/// True for the edge of a power of ten, which the axis labels.
bool is_decade(int bin) {
  return bin > 0 && (bin - 1) % DurationHistogram::kBinsPerDecade == 0;
}

}  // namespace

DurationHistogramView::DurationHistogramView(QWidget* parent)
    : QWidget(parent), card_(new HoverCard(this)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Durations of the hits; drag to select a range"));
}

void DurationHistogramView::set_histogram(const DurationHistogram& histogram) {
  histogram_ = histogram;
  card_->hide();
  tell_selection();
  update();
}

void DurationHistogramView::set_theme(const Theme& theme) {
  theme_ = &theme;
  card_->set_theme(theme);
  update();
}

void DurationHistogramView::select(std::optional<std::pair<int, int>> bins) {
  selection_ = bins;
  tell_selection();
  update();
}

void DurationHistogramView::tell_selection() {
  setAccessibleDescription(selection_
                               ? tr("%1 to %2 is selected")
                                     .arg(time(DurationHistogram::least_of(selection_->first)),
                                          time(DurationHistogram::least_of(selection_->second)))
                               : tr("All durations are listed"));
}

QRect DurationHistogramView::plot() const {
  const int line = fontMetrics().height();
  return rect().adjusted(12, line + 10, -12, -line - 8);
}

int DurationHistogramView::x_of(int bin) const {
  const QRect area = plot();
  const int bins = std::max(1, last_shown() - first_shown());
  const int at = std::clamp(bin, first_shown(), last_shown()) - first_shown();
  return area.left() + at * area.width() / bins;
}

int DurationHistogramView::bin_at(int x) const {
  const QRect area = plot();
  const int bins = std::max(1, last_shown() - first_shown());
  const int at = (x - area.left()) * bins / std::max(1, area.width());
  return first_shown() + std::clamp(at, 0, bins - 1);
}

void DurationHistogramView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_->base);
  const QRect area = plot();
  const int line = fontMetrics().height();
  painter.setPen(theme_->dim_text);
  if (histogram_.empty() || area.height() < 10) {
    painter.drawText(rect(), Qt::AlignCenter, tr("No durations"));
    return;
  }
  const QRect title(area.left(), 4, area.width(), line);
  QString text = selection_ ? tr("%1 to %2 – Esc: all")
                                  .arg(time(DurationHistogram::least_of(selection_->first)),
                                       time(DurationHistogram::least_of(selection_->second)))
                            : tr("Durations – drag to select");
  // Leaves out the second part of the hint if it does not fit completely.
  if (fontMetrics().horizontalAdvance(text) > title.width()) text = text.section(tr(" – "), 0, 0);
  painter.drawText(title, Qt::AlignLeft, text);
  if (selection_)
    painter.fillRect(QRect(QPoint(x_of(selection_->first), area.top()),
                           QPoint(x_of(selection_->second) - 1, area.bottom())),
                     theme_->heading);
  for (int bin = histogram_.first(); bin < histogram_.last(); ++bin) {
    const std::int64_t events = histogram_.count(bin);
    if (!events) continue;
    // Square roots, so that a single hit among a thousand is visible.
    const double share =
        std::sqrt(static_cast<double>(events) / static_cast<double>(histogram_.highest()));
    const int height = std::max(2, static_cast<int>(share * area.height()));
    const bool chosen = !selection_ || (bin >= selection_->first && bin < selection_->second);
    const int left = x_of(bin);
    painter.fillRect(
        QRect(left, area.bottom() - height + 1, std::max(1, x_of(bin + 1) - left - 1), height),
        chosen ? theme_->counter : theme_->border);
  }
  painter.fillRect(QRect(area.left(), area.bottom() + 1, area.width(), 1), theme_->border);
  // Labels powers of ten, and also the ends if there are few of them.
  int right_of_last = -1;
  const auto label = [&](int bin) {
    const QString text = time(DurationHistogram::least_of(bin));
    const int width = fontMetrics().horizontalAdvance(text);
    const int left = std::clamp(x_of(bin) - width / 2, 0, std::max(0, this->width() - width));
    if (left <= right_of_last) return;
    painter.drawText(QRect(left, area.bottom() + 4, width + 1, line), Qt::AlignLeft, text);
    painter.fillRect(QRect(x_of(bin), area.bottom() + 1, 1, 4), theme_->dim_text);
    right_of_last = left + width + 10;
  };
  std::vector<int> labels;
  for (int bin = first_shown(); bin <= last_shown(); ++bin)
    if (is_decade(bin)) labels.push_back(bin);
  if (labels.size() < 3) {
    labels.insert(labels.begin(), histogram_.first());
    labels.push_back(histogram_.last());
  }
  for (int bin : labels) label(bin);
  if (hasFocus()) {
    painter.setPen(theme_->accent);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

void DurationHistogramView::choose(std::optional<std::pair<int, int>> bins) {
  if (bins == selection_) return;
  select(bins);
  emit range_selected(bins ? DurationHistogram::least_of(bins->first) : DurationNs{0},
                      bins ? DurationHistogram::least_of(bins->second) : DurationNs{INT64_MAX});
}

void DurationHistogramView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || histogram_.empty()) return;
  anchor_ = bin_at(event->position().toPoint().x());
  dragged_ = false;
}

void DurationHistogramView::mouseMoveEvent(QMouseEvent* event) {
  const QPoint at = event->position().toPoint();
  if (histogram_.empty()) return;
  const int bin = bin_at(at.x());
  if (anchor_ >= 0) {
    dragged_ = dragged_ || bin != anchor_;
    if (dragged_) select(std::pair(std::min(anchor_, bin), std::max(anchor_, bin) + 1));
  }
  if (!plot().contains(at)) return card_->hide();
  card_->show_at(
      at,
      {tr("%1 to %2")
           .arg(time(DurationHistogram::least_of(bin)), time(DurationHistogram::least_of(bin + 1))),
       tr("%1 of %2 hits").arg(count(histogram_.count(bin)), count(histogram_.events()))});
}

/// A click selects a bin; on the selection it removes the selection.
void DurationHistogramView::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || anchor_ < 0) return;
  const int bin = bin_at(event->position().toPoint().x());
  const int from = std::exchange(anchor_, -1);
  if (dragged_) {
    const std::pair bins(std::min(from, bin), std::max(from, bin) + 1);
    selection_.reset();
    return choose(bins);
  }
  if (selection_) return choose(std::nullopt);
  choose(std::pair(bin, bin + 1));
}

void DurationHistogramView::keyPressEvent(QKeyEvent* event) {
  const int step = event->key() == Qt::Key_Left ? -1 : event->key() == Qt::Key_Right ? 1 : 0;
  if (event->key() == Qt::Key_Escape && selection_) return choose(std::nullopt);
  if (step == 0 || histogram_.empty()) return QWidget::keyPressEvent(event);
  const int first = histogram_.first();
  const int last = histogram_.last();
  if (!selection_)
    return choose(step > 0 ? std::pair(first, first + 1) : std::pair(last - 1, last));
  auto [begin, end] = *selection_;
  if (event->modifiers() & Qt::ShiftModifier) {
    end = std::clamp(end + step, begin + 1, last);
  } else if (begin + step >= first && end + step <= last) {
    begin += step;
    end += step;
  }
  choose(std::pair(begin, end));
}

void DurationHistogramView::leaveEvent(QEvent*) {
  card_->hide();
}

}  // namespace headway::gui
