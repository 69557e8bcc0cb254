// SPDX-License-Identifier: MIT
#include "gui/pages/heat_map_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "common/format.h"

namespace headway::gui {
namespace {

constexpr int kMargin = 12;
constexpr int kMostRow = 26;
constexpr int kLeastRow = 4;
constexpr int kWidestCell = 40;

QString text(const std::string& s) {
  return QString::fromStdString(s);
}

QString time(DurationNs t) {
  return text(format_duration(t));
}

}  // namespace

HeatMapView::HeatMapView(QWidget* parent) : QWidget(parent), card_(new HoverCard(this)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Ranks by steps"));
}

void HeatMapView::set_map(std::shared_ptr<const RankMap> map) {
  map_ = std::move(map);
  current_.reset();
  card_->hide();
  if (map_) range_ = map_->range(metric_);
  setAccessibleDescription(map_ ? text(map_->text) : QString());
  updateGeometry();
  update();
}

void HeatMapView::set_metric(RankMetric metric) {
  metric_ = metric;
  if (map_) range_ = map_->range(metric);
  update();
}

void HeatMapView::set_theme(const Theme& theme) {
  theme_ = &theme;
  card_->set_theme(theme);
  update();
}

int HeatMapView::row_height() const {
  int rows = map_ ? static_cast<int>(map_->rows.size()) : 1;
  int room = height() - 4 * fontMetrics().height() - 34;
  return std::clamp(room / std::max(1, rows), kLeastRow, kMostRow);
}

/// Names are placed below each other without leading.
int HeatMapView::least_labelled() const {
  return fontMetrics().ascent() + fontMetrics().descent() - 1;
}

int HeatMapView::name_width() const {
  int widest = 40;
  for (const RankRow& row : map_->rows)
    widest = std::max(widest, fontMetrics().horizontalAdvance(text(row.label)));
  return std::min(widest, 200) + 12;
}

QRect HeatMapView::plot() const {
  int rows = map_ ? static_cast<int>(map_->rows.size()) : 0;
  int columns = map_ ? static_cast<int>(map_->steps.size()) : 0;
  int left = kMargin + (map_ ? name_width() : 0);
  int room = std::max(1, width() - left - kMargin);
  return {left, 8, std::min(room, std::max(1, columns * kWidestCell)), rows * row_height()};
}

QSize HeatMapView::sizeHint() const {
  int rows = map_ ? static_cast<int>(map_->rows.size()) : 1;
  return {640, rows * kMostRow + 4 * fontMetrics().height() + 34};
}

QSize HeatMapView::minimumSizeHint() const {
  int rows = map_ ? static_cast<int>(map_->rows.size()) : 1;
  // Up to eight ranks (of one machine) have their names beside their rows; more share the height.
  const int row = std::clamp(8 * least_labelled() / std::max(1, rows), kLeastRow, least_labelled());
  return {300, rows * row + 4 * fontMetrics().height() + 34};
}

QRect HeatMapView::rect_of(std::uint32_t row, std::uint32_t column) const {
  QRect area = plot();
  double wide = static_cast<double>(area.width()) / static_cast<double>(map_->steps.size());
  int left = area.left() + static_cast<int>(column * wide);
  int right = area.left() + static_cast<int>((column + 1) * wide);
  return {left, area.top() + static_cast<int>(row) * row_height(), std::max(1, right - left),
          row_height()};
}

QRgb HeatMapView::color_of(DurationNs value) const {
  double share = std::clamp(ratio(value - range_.first, range_.second - range_.first), 0.0, 1.0);
  // One hue from pale to strong: readable in both themes, for colour-blind users and in print.
  QRgb pale = blend(theme_->base.rgb(), theme_->accent.rgb(), 0.06);
  QRgb strong = theme_->dark ? theme_->accent.rgb() : blend(theme_->accent.rgb(), 0xff000000, 0.35);
  return blend(pale, strong, share);
}

void HeatMapView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_->base);
  if (!map_ || map_->steps.empty() || map_->rows.empty()) return;
  QRect area = plot();
  paint_rows(painter, area);
  paint_axis(painter, area);
  paint_legend(painter, area);
}

void HeatMapView::paint_rows(QPainter& painter, const QRect& area) const {
  const std::uint32_t columns = static_cast<std::uint32_t>(map_->steps.size());
  const int high = row_height();
  int next_label = 0;
  for (std::uint32_t r = 0; r < map_->rows.size(); ++r) {
    int top = area.top() + static_cast<int>(r) * high;
    if (top >= next_label) {
      painter.setPen(theme_->text);
      painter.drawText(
          QRect(kMargin, top, name_width() - 8, std::max(high, fontMetrics().height())),
          Qt::AlignRight | Qt::AlignVCenter,
          fontMetrics().elidedText(text(map_->rows[r].label), Qt::ElideMiddle, name_width() - 10));
      next_label = top + least_labelled();
    }
    // Each pixel column shows the largest value of its steps, so that no slow step is lost.
    for (std::uint32_t c = 0; c < columns;) {
      QRect box = rect_of(r, c);
      DurationNs most{-1};
      bool steady = true;
      std::uint32_t last = c;
      for (; last < columns && rect_of(r, last).left() == box.left(); ++last) {
        const std::optional<RankCell>& cell = map_->rows[r].cells[last];
        if (!cell || cell->value(metric_) <= most) continue;
        most = cell->value(metric_);
        steady = cell->steady;
      }
      if (most.ns >= 0) {
        QRgb fill = color_of(most);
        if (!steady) fill = blend(fill, theme_->base.rgb(), 0.6);
        int gap = box.width() > 6 ? 1 : 0;
        painter.fillRect(box.adjusted(0, 0, -gap, high > 6 ? -1 : 0), QColor::fromRgb(fill));
      }
      c = last;
    }
  }
  painter.setPen(QPen(theme_->error, 2));
  for (const Straggler& one : map_->stragglers) {
    QRect box = rect_of(one.row, one.column);
    if (box.width() >= 5 && high >= 8) painter.drawRect(box.adjusted(1, 1, -2, -2));
  }
  if (current_ && hasFocus()) {
    painter.setPen(QPen(theme_->warning, 2));
    painter.drawRect(rect_of(current_->row, current_->column).adjusted(0, 0, -1, -1));
  }
}

void HeatMapView::paint_axis(QPainter& painter, const QRect& area) const {
  painter.setPen(theme_->dim_text);
  int next = 0;
  for (std::uint32_t c = 0; c < map_->steps.size(); ++c) {
    QRect box = rect_of(0, c);
    QString number = QString::number(map_->steps[c]);
    int wide = fontMetrics().horizontalAdvance(number);
    int x = box.center().x() - wide / 2;
    if (x < next || x + wide > width()) continue;
    next = x + wide + 12;
    painter.drawText(QRect(x, area.bottom() + 4, wide + 2, fontMetrics().height()), Qt::AlignLeft,
                     number);
  }
  painter.drawText(QRect(area.left(), area.bottom() + 6 + fontMetrics().height(),
                         width() - area.left() - kMargin, fontMetrics().height()),
                   Qt::AlignLeft,
                   fontMetrics().elidedText(tr("Step number · pale: excluded · red frame: the "
                                               "others wait for this one, which has the most own "
                                               "work"),
                                            Qt::ElideRight, width() - area.left() - kMargin));
}

void HeatMapView::paint_legend(QPainter& painter, const QRect& area) const {
  const int line = fontMetrics().height();
  const int top = area.bottom() + 2 * line + 14;
  QString low = time(range_.first);
  QString high = tr("%1 and more").arg(time(range_.second));
  int x = area.left();
  painter.setPen(theme_->text);
  painter.drawText(QRect(x, top, 400, line), Qt::AlignLeft, low);
  x += fontMetrics().horizontalAdvance(low) + 8;
  constexpr int kBar = 160;
  for (int i = 0; i < kBar; ++i) {
    DurationNs value = range_.first + DurationNs{(range_.second - range_.first).ns * i / kBar};
    painter.fillRect(QRect(x + i, top + 2, 1, line - 4), QColor::fromRgb(color_of(value)));
  }
  std::string_view label = rank_metrics()[static_cast<std::size_t>(metric_)].label;
  painter.drawText(QRect(x + kBar + 8, top, width(), line), Qt::AlignLeft,
                   high + QStringLiteral("  ·  ") +
                       QString::fromUtf8(label.data(), static_cast<qsizetype>(label.size())));
}

std::optional<HeatMapView::At> HeatMapView::at(const QPoint& point) const {
  if (!map_ || map_->steps.empty()) return std::nullopt;
  QRect area = plot();
  if (!area.contains(point)) return std::nullopt;
  double wide = static_cast<double>(area.width()) / static_cast<double>(map_->steps.size());
  At cell{static_cast<std::uint32_t>((point.y() - area.top()) / row_height()),
          static_cast<std::uint32_t>((point.x() - area.left() + 0.5) / wide)};
  if (cell.row >= map_->rows.size() || cell.column >= map_->steps.size()) return std::nullopt;
  return cell;
}

QStringList HeatMapView::describe(const At& where) const {
  const RankRow& row = map_->rows[where.row];
  QStringList lines{tr("%1, step %2").arg(text(row.label)).arg(map_->steps[where.column])};
  const std::optional<RankCell>& cell = row.cells[where.column];
  if (!cell) return lines << tr("no such step");
  for (const RankMetricInfo& metric : rank_metrics()) {
    DurationNs value = cell->value(metric.metric);
    if (value.ns > 0 || metric.metric == metric_)
      lines << QStringLiteral("%1: %2").arg(
          QString::fromUtf8(metric.label.data(), static_cast<qsizetype>(metric.label.size())),
          time(value));
  }
  for (const Straggler& one : map_->stragglers) {
    if (one.row != where.row || one.column != where.column) continue;
    std::string_view cause = one.cause ? analyzer::info(*one.cause).label : "";
    lines << tr("%1 more own work than the others' median%2")
                 .arg(time(one.excess),
                      cause.empty()
                          ? QString()
                          : tr(": %1 +%2")
                                .arg(QString::fromUtf8(cause.data(),
                                                       static_cast<qsizetype>(cause.size())),
                                     time(one.cause_excess)));
  }
  if (!cell->steady) lines << tr("excluded");
  lines << tr("Click to see it on the timeline");
  return lines;
}

void HeatMapView::mouseMoveEvent(QMouseEvent* event) {
  QPoint point = event->position().toPoint();
  std::optional<At> cell = at(point);
  if (!cell) return card_->hide();
  card_->show_at(point, describe(*cell));
}

void HeatMapView::leaveEvent(QEvent*) {
  card_->hide();
}

void HeatMapView::mouseReleaseEvent(QMouseEvent* event) {
  std::optional<At> cell = at(event->position().toPoint());
  if (!cell || event->button() != Qt::LeftButton) return;
  set_current(*cell);
  emit cell_followed(cell->row, cell->column);
}

void HeatMapView::set_current(At cell) {
  current_ = cell;
  setAccessibleDescription(describe(cell).join(QStringLiteral(", ")));
  update();
}

void HeatMapView::keyPressEvent(QKeyEvent* event) {
  if (!map_ || map_->steps.empty() || map_->rows.empty()) return QWidget::keyPressEvent(event);
  At cell = current_.value_or(At{});
  std::uint32_t last_row = static_cast<std::uint32_t>(map_->rows.size()) - 1;
  std::uint32_t last_column = static_cast<std::uint32_t>(map_->steps.size()) - 1;
  switch (event->key()) {
    case Qt::Key_Up:
      return set_current({cell.row ? cell.row - 1 : 0, cell.column});
    case Qt::Key_Down:
      return set_current({std::min(last_row, cell.row + 1), cell.column});
    case Qt::Key_Left:
      return set_current({cell.row, cell.column ? cell.column - 1 : 0});
    case Qt::Key_Right:
      return set_current({cell.row, std::min(last_column, cell.column + 1)});
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (current_) emit cell_followed(cell.row, cell.column);
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

}  // namespace headway::gui
