// SPDX-License-Identifier: MIT
#include "gui/pages/change_waterfall.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "common/format.h"

namespace headway::gui {
namespace {

constexpr int kGap = 10;

QString label_of(analyzer::TimeClass c) {
  std::string_view label = analyzer::info(c).label;
  return QString::fromUtf8(label.data(), static_cast<qsizetype>(label.size()));
}

QString duration(DurationNs d) {
  return QString::fromStdString(format_duration(d));
}

QString change_text(DurationNs change) {
  return QString::fromStdString(format_change(change));
}

}  // namespace

/// Horizontal positions of names, bars and figures.
struct ChangeWaterfall::Columns {
  int names = 0;
  QRect plot;
  double pixels_per_ns = 0;
};

ChangeWaterfall::ChangeWaterfall(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::TabFocus);
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("Change by time class"));
}

void ChangeWaterfall::set_pair(std::shared_ptr<const SessionPair> pair) {
  pair_ = std::move(pair);
  current_.reset();
  QStringList words;
  changes_ = pair_ ? pair_->changed_classes() : std::vector<ClassChange>();
  rest_ = {};
  if (pair_) {
    rest_ = pair_->total(Side::kB) - pair_->total(Side::kA);
    for (const ClassChange& one : changes_) rest_ = rest_ - one.change();
    for (const ClassChange& one : changes_)
      words << label_of(one.time_class) + QStringLiteral(" ") + change_text(one.change());
  }
  setAccessibleDescription(words.join(QStringLiteral(", ")));
  updateGeometry();
  update();
}

void ChangeWaterfall::set_theme(const Theme& theme) {
  theme_ = &theme;
  update();
}

QSize ChangeWaterfall::sizeHint() const {
  int rows = pair_ ? static_cast<int>(changes_.size()) + 2 + (rest_.ns != 0) : 1;
  return {420, rows * row_height() + 4};
}

ChangeWaterfall::Columns ChangeWaterfall::columns() const {
  QFont bold = font();
  bold.setBold(true);
  QFontMetrics metrics(bold);
  Columns columns;
  columns.names = metrics.horizontalAdvance(tr("A: whole span"));
  for (const ClassChange& one : changes_)
    columns.names = std::max(columns.names, metrics.horizontalAdvance(label_of(one.time_class)));
  columns.names += 2 * kGap;
  int figures = metrics.horizontalAdvance(QStringLiteral("−000.0 ms")) + kGap;
  columns.plot =
      QRect(columns.names, 0, std::max(40, width() - columns.names - figures - kGap), height());
  // The running total may exceed both ends.
  std::int64_t reach = std::max(pair_->total(Side::kA).ns, pair_->total(Side::kB).ns);
  std::int64_t running = pair_->total(Side::kA).ns;
  for (const ClassChange& one : changes_) reach = std::max(reach, running += one.change().ns);
  columns.pixels_per_ns = columns.plot.width() / std::max(1.0, static_cast<double>(reach));
  return columns;
}

void ChangeWaterfall::paint_row(QPainter& painter, const Columns& columns, int row,
                                const QString& name, const QString& value, DurationNs from,
                                DurationNs to, const QColor& color) const {
  const int height = row_height();
  QRect box(0, row * height, width(), height);
  painter.setPen(theme_->text);
  painter.drawText(QRect(4, box.top(), columns.names - 8, height), Qt::AlignLeft | Qt::AlignVCenter,
                   name);
  auto x_of = [&](DurationNs time) {
    return columns.plot.left() +
           static_cast<int>(static_cast<double>(time.ns) * columns.pixels_per_ns);
  };
  int left = x_of(std::min(from, to));
  int right = std::max(left + 1, x_of(std::max(from, to)));
  painter.fillRect(QRect(left, box.top() + 3, right - left, height - 6), color);
  painter.drawText(QRect(columns.plot.right() + kGap, box.top(),
                         width() - columns.plot.right() - 2 * kGap, height),
                   Qt::AlignRight | Qt::AlignVCenter, value);
}

void ChangeWaterfall::paintEvent(QPaintEvent*) {
  if (!pair_) return;
  QPainter painter(this);
  const Columns at = columns();
  QFont bold = font();
  bold.setBold(true);
  if (current_) {
    QColor fill = theme_->accent;
    fill.setAlpha(theme_->dark ? 50 : 28);
    int y = static_cast<int>(*current_ + 1) * row_height();
    painter.fillRect(QRect(0, y, width(), row_height()), fill);
  }
  const bool steps = pair_->has_steps();
  auto total = [&](int row, Side side, const QString& name) {
    painter.setFont(bold);
    DurationNs length = pair_->total(side);
    paint_row(painter, at, row, name, duration(length), {}, length, theme_->dim_text);
    painter.setFont(font());
  };
  total(0, Side::kA, steps ? tr("A: mean step") : tr("A: whole span"));
  DurationNs running = pair_->total(Side::kA);
  int row = 1;
  for (const ClassChange& one : changes_) {
    DurationNs next = running + one.change();
    paint_row(painter, at, row++, label_of(one.time_class), change_text(one.change()), running,
              next, theme_->color(one.time_class));
    running = next;
  }
  if (rest_.ns != 0)
    paint_row(painter, at, row++, tr("All else"), change_text(rest_), running, running + rest_,
              theme_->dim_text);
  total(row, Side::kB, steps ? tr("B: mean step") : tr("B: whole span"));
  if (hasFocus()) {
    painter.setPen(theme_->accent);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

std::optional<std::size_t> ChangeWaterfall::class_at(int y) const {
  if (!pair_ || y < row_height()) return std::nullopt;
  auto row = static_cast<std::size_t>(y / row_height() - 1);
  if (row >= changes_.size()) return std::nullopt;
  return row;
}

void ChangeWaterfall::set_current(std::optional<std::size_t> row) {
  if (current_ == row) return;
  current_ = row;
  setCursor(row ? Qt::PointingHandCursor : Qt::ArrowCursor);
  if (row) {
    const ClassChange& one = changes_[*row];
    setToolTip(QStringLiteral("%1: %2 → %3")
                   .arg(label_of(one.time_class), duration(one.a), duration(one.b)));
  }
  update();
}

void ChangeWaterfall::mouseMoveEvent(QMouseEvent* event) {
  set_current(class_at(event->position().toPoint().y()));
}

void ChangeWaterfall::leaveEvent(QEvent*) {
  set_current(std::nullopt);
}

void ChangeWaterfall::mouseReleaseEvent(QMouseEvent* event) {
  auto row = class_at(event->position().toPoint().y());
  if (event->button() == Qt::LeftButton && row) emit class_followed(changes_[*row].time_class);
}

void ChangeWaterfall::keyPressEvent(QKeyEvent* event) {
  if (!pair_ || changes_.empty()) return QWidget::keyPressEvent(event);
  const std::size_t last = changes_.size() - 1;
  switch (event->key()) {
    case Qt::Key_Up:
      return set_current(current_ && *current_ > 0 ? *current_ - 1 : 0);
    case Qt::Key_Down:
      return set_current(current_ ? std::min(last, *current_ + 1) : 0);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (current_) emit class_followed(changes_[*current_].time_class);
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

void ChangeWaterfall::focusInEvent(QFocusEvent*) {
  update();
}

void ChangeWaterfall::focusOutEvent(QFocusEvent*) {
  update();
}

}  // namespace headway::gui
