// SPDX-License-Identifier: MIT
#include "gui/pages/waterfall_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "common/format.h"

namespace headway::gui {
namespace {

QString label_of(analyzer::TimeClass c) {
  std::string_view label = analyzer::info(c).label;
  return QString::fromUtf8(label.data(), static_cast<qsizetype>(label.size()));
}

}  // namespace

WaterfallView::WaterfallView(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::TabFocus);
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("Step time by class"));
}

void WaterfallView::set_waterfall(std::optional<Waterfall> waterfall) {
  waterfall_ = std::move(waterfall);
  current_.reset();
  QStringList words;
  if (waterfall_) {
    for (const WaterfallBar& bar : waterfall_->bars)
      words << label_of(bar.time_class) + QStringLiteral(" ") +
                   QString::fromStdString(format_duration(bar.length));
  }
  setAccessibleDescription(words.join(QStringLiteral(", ")));
  updateGeometry();
  update();
}

void WaterfallView::set_theme(const Theme& theme) {
  theme_ = &theme;
  update();
}

QSize WaterfallView::sizeHint() const {
  int rows = waterfall_ ? static_cast<int>(waterfall_->bars.size()) + 1 : 1;
  return {560, rows * row_height() + 6};
}

void WaterfallView::paintEvent(QPaintEvent*) {
  if (!waterfall_) return;
  QPainter painter(this);
  // The sum is in bold and has the widest text.
  QFont bold = font();
  bold.setBold(true);
  QFontMetrics metrics(bold);
  int names = 0;
  int values = metrics.horizontalAdvance(QStringLiteral("000.0 ms"));
  int shares = metrics.horizontalAdvance(QStringLiteral("100.0 %"));
  for (const WaterfallBar& bar : waterfall_->bars)
    names = std::max(names, metrics.horizontalAdvance(label_of(bar.time_class)));
  names += 16;
  const int figures = values + shares + 22;
  QRect plot(names, 0, std::max(40, width() - names - figures), height());
  const double scale = plot.width() / std::max(1.0, static_cast<double>(waterfall_->length.ns));
  const int row = row_height();
  auto line = [&](int i, const QString& name, DurationNs begin, DurationNs length,
                  const QBrush& fill) {
    QRect box(0, i * row, width(), row);
    if (current_ && *current_ == static_cast<std::size_t>(i)) {
      QColor tint = theme_->accent;
      tint.setAlpha(theme_->dark ? 50 : 28);
      painter.fillRect(box, tint);
    }
    painter.setPen(theme_->text);
    painter.drawText(QRect(4, box.top(), names - 12, row), Qt::AlignLeft | Qt::AlignVCenter, name);
    int from = plot.left() + static_cast<int>(static_cast<double>(begin.ns) * scale);
    int to = plot.left() + static_cast<int>(static_cast<double>((begin + length).ns) * scale);
    painter.fillRect(QRect(from, box.top() + 3, std::max(1, to - from), row - 6), fill);
    painter.fillRect(QRect(to, box.top() + 3, 1, row), theme_->border);
    painter.drawText(QRect(width() - figures, box.top(), values + 10, row),
                     Qt::AlignRight | Qt::AlignVCenter,
                     QString::fromStdString(format_duration(length)));
    painter.setPen(theme_->dim_text);
    painter.drawText(QRect(width() - shares - 8, box.top(), shares + 4, row),
                     Qt::AlignRight | Qt::AlignVCenter,
                     QString::fromStdString(format_percent(ratio(length, waterfall_->length))));
  };
  int i = 0;
  for (const WaterfallBar& bar : waterfall_->bars)
    line(i++, label_of(bar.time_class), bar.begin, bar.length,
         theme_->brush(role_of(bar.time_class)));
  painter.fillRect(QRect(0, i * row, width(), 1), theme_->border);
  painter.setFont(bold);
  line(i, QString::fromStdString(waterfall_->total), {}, waterfall_->length,
       theme_->brush(ColorRole::kStep));
}

std::optional<std::size_t> WaterfallView::row_at(int y) const {
  std::size_t row =
      static_cast<std::size_t>(std::max(0, y)) / static_cast<std::size_t>(row_height());
  if (!waterfall_ || row >= waterfall_->bars.size()) return std::nullopt;
  return row;
}

void WaterfallView::set_current(std::optional<std::size_t> row) {
  if (row == current_) return;
  current_ = row;
  update();
}

void WaterfallView::mouseMoveEvent(QMouseEvent* event) {
  set_current(row_at(static_cast<int>(event->position().y())));
  setCursor(current_ ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void WaterfallView::leaveEvent(QEvent*) {
  set_current(std::nullopt);
}

void WaterfallView::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (auto row = row_at(static_cast<int>(event->position().y())))
    emit class_followed(waterfall_->bars[*row].time_class);
}

void WaterfallView::focusInEvent(QFocusEvent* event) {
  if (waterfall_ && !waterfall_->bars.empty() && event->reason() != Qt::MouseFocusReason)
    set_current(0);
  QWidget::focusInEvent(event);
}

void WaterfallView::focusOutEvent(QFocusEvent* event) {
  set_current(std::nullopt);
  QWidget::focusOutEvent(event);
}

void WaterfallView::keyPressEvent(QKeyEvent* event) {
  if (!waterfall_ || waterfall_->bars.empty()) return QWidget::keyPressEvent(event);
  std::size_t last = waterfall_->bars.size() - 1;
  switch (event->key()) {
    case Qt::Key_Up:
      return set_current(current_ && *current_ > 0 ? *current_ - 1 : 0);
    case Qt::Key_Down:
      return set_current(std::min(last, current_ ? *current_ + 1 : 0));
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (current_) emit class_followed(waterfall_->bars[*current_].time_class);
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

}  // namespace headway::gui
