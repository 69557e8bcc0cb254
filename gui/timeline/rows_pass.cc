// SPDX-License-Identifier: MIT
#include "gui/timeline/rows_pass.h"

#include <QPaintEngine>
#include <algorithm>
#include <cmath>

#include "analyzer/event_ref.h"
#include "common/format.h"
#include "gui/models/ticks.h"
#include "gui/models/vocabulary.h"

namespace headway::gui {
namespace {

constexpr int kIndent = 14;

/// The name of what an entry of a row's lane stands for.
trace::StringId name_of_entry(const TimelineModel& model, const Row& row, std::uint32_t trace_row) {
  switch (row.kind) {
    case RowKind::kStream:
      return model.trace->device_ops.name[trace_row];
    case RowKind::kThread:
      return model.trace->ranges.name[trace_row];
    case RowKind::kCalls:
      return model.trace->calls.name[trace_row];
    default:
      return {};
  }
}

/// True when a row, or the first line of one with several, is in sight down to its lower edge.
bool fits(const Frame& frame, const RowLayout::Shown& shown) {
  int height = shown.lanes > 1 ? frame.layout->metrics().lane : shown.height;
  return frame.screen_y(shown.y) + height <= frame.size.height();
}

}  // namespace

QString counter_text(double value, const std::string& unit) {
  if (unit == "bytes") return QString::fromStdString(si(value, "B"));
  if (unit == "bytes/s") return QString::fromStdString(si(value, "B/s"));
  if (unit == "%") return QString::number(value, 'f', std::fabs(value) < 10 ? 1 : 0) + " %";
  return QString::fromStdString(si(value, unit)).trimmed();
}

void RowsPass::paint(QImage& image, QPainter& painter, const Frame& frame, LabelCache& labels) {
  paint_background(painter, frame);
  const ColumnGrid grid(frame.mapping.on_screen(frame.pixel_ratio));
  const std::vector<RowLayout::Shown>& shown = frame.layout->shown();
  std::size_t first = frame.layout->index_at(std::max<std::int64_t>(0, frame.scroll)).value_or(0);
  painter.setFont(frame.font);
  for (std::size_t i = first; i < shown.size(); ++i) {
    if (frame.screen_y(shown[i].y) >= frame.size.height()) break;
    // Pictures of vectors cannot be cut off: what does not fit is left out.
    if (image.isNull() && !fits(frame, shown[i])) break;
    const Row& row = frame.model->row(shown[i].row);
    if (row.kind == RowKind::kCounter) {
      paint_counter(image, painter, frame, grid, shown[i]);
    } else if (!row.lanes.empty()) {
      paint_lanes(image, painter, frame, labels, grid, shown[i]);
    }
    paint_name(painter, frame, shown[i]);
  }
  painter.fillRect(QRect(frame.gutter - 1, frame.header_height(), 1, frame.rows_rect().height()),
                   frame.theme->border);
}

void RowsPass::paint_background(QPainter& painter, const Frame& frame) {
  const Theme& theme = *frame.theme;
  painter.fillRect(frame.area_rect(), theme.base);
  painter.fillRect(QRect(0, frame.header_height(), frame.gutter, frame.rows_rect().height()),
                   theme.heading);
  const TimeMapping ruler = frame.mapping.shifted(TimeNs{} - frame.origin);
  for (const Ticks::Tick& tick : make_ticks(ruler, kRulerLabelWidth).ticks) {
    if (!tick.major) continue;
    int x = frame.gutter + static_cast<int>(ruler.x_of(tick.time));
    if (x >= frame.gutter)
      painter.fillRect(QRect(x, frame.header_height(), 1, frame.rows_rect().height()), theme.grid);
  }
  const std::vector<RowLayout::Shown>& all = frame.layout->shown();
  std::size_t first = frame.layout->index_at(std::max<std::int64_t>(0, frame.scroll)).value_or(0);
  for (std::size_t i = first; i < all.size(); ++i) {
    const RowLayout::Shown& shown = all[i];
    int y = frame.screen_y(shown.y);
    if (y > frame.size.height()) break;
    if (painter.paintEngine()->type() == QPaintEngine::SVG && !fits(frame, shown)) break;
    if (frame.model->row(shown.row).kind > RowKind::kMachine) continue;
    painter.fillRect(QRect(0, y, frame.size.width(), shown.height), theme.heading);
    painter.fillRect(QRect(0, y, frame.size.width(), 1), theme.border);
    painter.fillRect(QRect(0, y + shown.height - 1, frame.size.width(), 1), theme.border);
  }
}

void RowsPass::paint_lanes(QImage& image, QPainter& painter, const Frame& frame, LabelCache& labels,
                           const ColumnGrid& grid, const RowLayout::Shown& shown) {
  const Row& row = frame.model->row(shown.row);
  for (std::uint32_t l = 0; l < shown.lanes; ++l) {
    int y = frame.screen_y(frame.layout->lane_y(shown, l));
    int height = frame.layout->metrics().lane;
    if (y + height <= frame.header_height()) continue;
    if (y >= frame.size.height() || (image.isNull() && y + height > frame.size.height())) break;
    QRect band(frame.gutter, y, frame.area_width(), height - 1);
    const std::vector<LaneItem>& items =
        image.isNull() ? lanes_.draw(painter, band, row.lanes[l], grid, *frame.theme)
                       : lanes_.paint(image, device_rect(band, frame.pixel_ratio), row.lanes[l],
                                      grid, *frame.theme);
    paint_labels(painter, frame, labels, row, row.lanes[l], band, items);
  }
}

void RowsPass::paint_labels(QPainter& painter, const Frame& frame, LabelCache& labels,
                            const Row& row, const Lane& lane, const QRect& band,
                            const std::vector<LaneItem>& items) {
  const double per_pixel = 1 / frame.pixel_ratio;
  const double baseline = band.top() + (band.height() - labels.line_height()) / 2 + labels.ascent();
  constexpr double kLeastLabel = 22;
  constexpr double kPadding = 3;
  QRgb pen = 0;
  for (const LaneItem& item : items) {
    double width = item.width * per_pixel;
    if (width < kLeastLabel || item.count != 1) continue;
    QRgb color = frame.theme->role_text[static_cast<std::size_t>(item.color)];
    if (color != pen) painter.setPen(QColor::fromRgb(pen = color));
    double x = frame.gutter + item.x * per_pixel + kPadding;
    std::uint32_t trace_row = lane.rows(item.entry).front();
    if (row.kind == RowKind::kPartition) {
      const auto& segment = frame.model->analysis->partitions[row.subject].segments[trace_row];
      // Labels of classes are few; ids far beyond those of the trace keep them apart.
      trace::StringId id{0xffffff00u + static_cast<std::uint32_t>(segment.time_class)};
      labels.draw(painter, id, analyzer::info(segment.time_class).label, x, baseline,
                  width - 2 * kPadding);
    } else {
      trace::StringId id = name_of_entry(*frame.model, row, trace_row);
      labels.draw(painter, id, frame.model->trace->strings[id], x, baseline, width - 2 * kPadding);
    }
  }
}

void RowsPass::paint_counter(QImage& image, QPainter& painter, const Frame& frame,
                             const ColumnGrid& grid, const RowLayout::Shown& shown) {
  const CounterLane& counter = frame.model->counters[frame.model->row(shown.row).subject];
  QRect band =
      device_rect(QRect(frame.gutter, frame.screen_y(shown.y), frame.area_width(), shown.height),
                  frame.pixel_ratio);
  double span = counter.high() - counter.low();
  columns_.clear();
  counter.collect(grid, columns_);
  if (span <= 0) span = 1;
  auto y_of = [&](double value) {
    return band.bottom() - static_cast<int>((value - counter.low()) / span * (band.height() - 2));
  };
  const int zero = y_of(0);
  const int clip_top = static_cast<int>(std::lround(frame.header_height() * frame.pixel_ratio));
  const int thickness = std::max(1, static_cast<int>(std::lround(frame.pixel_ratio)));
  auto fill = [&](int x, int from, int to, QRgb color) {
    if (x >= image.width()) return;
    for (int y = std::max(from, clip_top); y <= std::min(to, image.height() - 1); ++y)
      reinterpret_cast<QRgb*>(image.scanLine(y))[x] = color;
  };
  if (image.isNull()) {
    draw_counter(painter, frame, band, y_of);
  } else {
    for (const CounterColumn& column : columns_) {
      int x = band.left() + column.x;
      int high = y_of(column.high);
      int low = y_of(column.low);
      fill(x, std::min(high, zero), std::max(low, zero), frame.theme->counter_fill.rgb());
      fill(x, high, low + thickness - 1, frame.theme->counter.rgb());
    }
  }
  QRect text(frame.gutter + 4, frame.screen_y(shown.y), frame.area_width() - 8, shown.height);
  painter.setPen(frame.theme->dim_text);
  painter.drawText(text, Qt::AlignRight | Qt::AlignTop,
                   QStringLiteral("max ") + counter_text(counter.high(), counter.series().unit));
}

/// The columns of a counter as rectangles, neighbours of the same height as one.
template <class ToY>
void RowsPass::draw_counter(QPainter& painter, const Frame& frame, const QRect& band, ToY y_of) {
  const int zero = y_of(0);
  for (std::size_t i = 0; i < columns_.size();) {
    const int high = y_of(columns_[i].high);
    const int low = y_of(columns_[i].low);
    std::size_t end = i + 1;
    while (end < columns_.size() && columns_[end].x == columns_[end - 1].x + 1 &&
           y_of(columns_[end].high) == high && y_of(columns_[end].low) == low)
      ++end;
    const int x = band.left() + columns_[i].x;
    const int width = static_cast<int>(end - i);
    const int top = std::min(high, zero);
    painter.fillRect(QRect(x, top, width, std::max(low, zero) - top + 1),
                     frame.theme->counter_fill);
    painter.fillRect(QRect(x, high, width, low - high + 1), frame.theme->counter);
    i = end;
  }
}

void RowsPass::paint_name(QPainter& painter, const Frame& frame, const RowLayout::Shown& shown) {
  const Theme& theme = *frame.theme;
  const Row& row = frame.model->row(shown.row);
  const int y = frame.screen_y(shown.y);
  const int line = row.is_heading() ? shown.height
                   : row.kind == RowKind::kCounter
                       ? shown.height / 2
                       : std::min(shown.height, frame.layout->metrics().lane);
  int x = 6 + row.depth * kIndent;
  painter.save();
  painter.setClipRect(QRect(0, frame.header_height(), frame.gutter - 2, frame.size.height()));
  if (row.can_fold()) {
    bool folded = frame.layout->is_folded(shown.row);
    QPointF middle(x + 4, y + line / 2.0);
    QPolygonF triangle =
        folded
            ? QPolygonF({middle + QPointF(-2, -4), middle + QPointF(3, 0), middle + QPointF(-2, 4)})
            : QPolygonF(
                  {middle + QPointF(-4, -2), middle + QPointF(4, -2), middle + QPointF(0, 3)});
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.dim_text);
    painter.drawPolygon(triangle);
    painter.setRenderHint(QPainter::Antialiasing, false);
  }
  x += 13;
  QFont bold = frame.font;
  bold.setBold(true);
  painter.setFont(row.is_heading() ? bold : frame.font);
  QFontMetrics metrics = painter.fontMetrics();
  QString label =
      metrics.elidedText(QString::fromStdString(row.label), Qt::ElideRight, frame.gutter - x - 6);
  painter.setPen(theme.text);
  painter.drawText(QRect(x, y, frame.gutter - x - 4, line), Qt::AlignLeft | Qt::AlignVCenter,
                   label);
  QString detail = QString::fromStdString(row.detail);
  if (row.lanes.size() > 1 && frame.layout->is_folded(shown.row))
    detail += QStringLiteral("  +%1").arg(row.lanes.size() - 1);
  painter.setFont(frame.font);
  painter.setPen(theme.dim_text);
  if (row.kind == RowKind::kCounter) {
    painter.drawText(QRect(x, y + line, frame.gutter - x - 4, line),
                     Qt::AlignLeft | Qt::AlignVCenter, detail);
  } else {
    int after = x + metrics.horizontalAdvance(label) + 8;
    if (!detail.isEmpty() && frame.gutter - after > 36) {
      painter.drawText(
          QRect(after, y, frame.gutter - after - 6, line), Qt::AlignLeft | Qt::AlignVCenter,
          painter.fontMetrics().elidedText(detail, Qt::ElideRight, frame.gutter - after - 6));
    }
  }
  painter.restore();
}

}  // namespace headway::gui
