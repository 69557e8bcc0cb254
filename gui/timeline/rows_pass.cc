// SPDX-License-Identifier: MIT
#include "gui/timeline/rows_pass.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "analyzer/model/event_ref.h"
#include "common/format.h"
#include "gui/models/text/vocabulary.h"
#include "gui/models/timeline/ticks.h"

namespace headway::gui {
namespace {

constexpr int kIndent = 14;

/// The name of the event or target of a lane entry.
trace::StringId name_of_entry(const TimelineModel& model, RowId row, std::uint32_t trace_row) {
  using analyzer::EventRef;
  Target target = model.target_of(row, trace_row);
  if (target.kind == Target::Kind::kOverhead) return model.trace->overheads[target.index].name;
  if (target.kind == Target::Kind::kPrediction)
    target = Target::of(model.predicted->tasks[target.index].event);
  switch (target.event.kind) {
    case EventRef::Kind::kDeviceOp:
      return model.trace->device_ops.name[target.event.index];
    case EventRef::Kind::kRange:
      return model.trace->ranges.name[target.event.index];
    case EventRef::Kind::kCall:
      return model.trace->calls.name[target.event.index];
    case EventRef::Kind::kNone:
      break;
  }
  return {};
}

void fill_device(QImage& image, int left, int top, int width, int height, QRgb color) {
  const int last = std::min(image.width(), left + width);
  for (int y = std::max(0, top); y < std::min(image.height(), top + height); ++y) {
    QRgb* line = reinterpret_cast<QRgb*>(image.scanLine(y));
    for (int x = std::max(0, left); x < last; ++x) line[x] = color;
  }
}

/// True when a row, or the first lane of a row with several, is visible down to its lower edge.
bool fits(const Frame& frame, const RowLayout::Shown& shown) {
  int height = shown.lanes > 1 ? frame.layout->metrics().lane : shown.height;
  return frame.screen_y(shown.y) + height <= frame.size.height();
}

}  // namespace

const Lane* strip_of(const Frame& frame, RowId row) {
  if (!frame.model->row(row).is_heading() || !frame.layout->is_folded(row)) return nullptr;
  const RowId strip = frame.model->strip_row(row);
  return strip.valid() ? &frame.model->row(strip).lanes.front() : nullptr;
}

QString counter_text(double value, const std::string& unit) {
  if (unit == "bytes") return QString::fromStdString(si(value, "B"));
  if (unit == "bytes/s") return QString::fromStdString(si(value, "B/s"));
  if (unit == "%") return QString::number(value, 'f', std::fabs(value) < 10 ? 1 : 0) + " %";
  return QString::fromStdString(si(value, unit)).trimmed();
}

void RowsPass::paint(QImage& image, QPainter& painter, const Frame& frame, LabelCache& labels) {
  const ColumnGrid grid(frame.mapping.on_screen(frame.pixel_ratio));
  const std::vector<RowLayout::Shown>& shown = frame.layout->shown();
  const int header = frame.header_height();
  const int sticky = frame.sticky_height();
  paint_ground(painter, frame, header, frame.rows_rect().height());
  std::size_t first = frame.layout->index_at(std::max<std::int64_t>(0, frame.scroll) + sticky)
                          .value_or(shown.size());
  painter.setFont(frame.font);
  if (!image.isNull()) collect_ahead(image, frame, grid, first);
  for (std::size_t i = first; i < shown.size(); ++i) {
    if (frame.screen_y(shown[i].y) >= frame.size.height()) break;
    // In vector output a row cannot be clipped: rows that do not fit are left out.
    if (image.isNull() && !fits(frame, shown[i])) break;
    paint_row(image, painter, frame, labels, grid, shown[i]);
  }
  if (sticky) {
    paint_ground(painter, frame, header, sticky);
    for (std::size_t i = 0; i < shown.size() && shown[i].pinned; ++i)
      paint_row(image, painter, frame, labels, grid, shown[i]);
    painter.fillRect(QRect(0, header + sticky - 2, frame.size.width(), 2), frame.theme->border);
  }
  paint_names(image, painter, frame);
  painter.fillRect(QRect(frame.gutter - 1, header, 1, frame.rows_rect().height()),
                   frame.theme->border);
}

void RowsPass::paint_row(QImage& image, QPainter& painter, const Frame& frame, LabelCache& labels,
                         const ColumnGrid& grid, const RowLayout::Shown& shown) {
  const Theme& theme = *frame.theme;
  const Row& row = frame.model->row(shown.row);
  const int y = frame.screen_y(shown.y);
  if (row.is_heading()) {
    painter.fillRect(QRect(0, y, frame.size.width(), shown.height), theme.heading);
    painter.fillRect(QRect(0, y, frame.size.width(), 1), theme.border);
    painter.fillRect(QRect(0, y + shown.height - 1, frame.size.width(), 1), theme.border);
  }
  if (shown.row == frame.current_row) {
    QColor tint = theme.accent;
    tint.setAlpha(theme.dark ? 60 : 36);
    painter.fillRect(QRect(0, y, frame.gutter, shown.height), tint);
    painter.fillRect(QRect(0, y, 3, shown.height), theme.accent);
  }
  if (row.is_heading()) {
    paint_strip(image, painter, frame, grid, shown);
  } else if (row.kind == RowKind::kCounter) {
    paint_counter(image, painter, frame, grid, shown);
  } else if (!row.lanes.empty()) {
    paint_lanes(image, painter, frame, labels, grid, shown);
  }
}

/// Paints the names once and then copies them: they stay the same while the view moves in time, and
/// text is the most expensive part of a frame.
void RowsPass::paint_names(QImage& image, QPainter& painter, const Frame& frame) {
  if (image.isNull()) {
    for (const RowLayout::Shown& shown : frame.layout->shown()) {
      const int y = frame.screen_y(shown.y);
      if (y + shown.height > frame.header_height() && fits(frame, shown))
        paint_name(painter, frame, shown);
    }
    return;
  }
  const QRect strip =
      device_rect(QRect(0, frame.header_height(), frame.gutter - 1, frame.rows_rect().height()),
                  frame.pixel_ratio) &
      image.rect();
  const std::uint64_t key = names_key(frame);
  const qsizetype bytes = qsizetype{strip.width()} * 4;
  const bool known = key == names_key_ && names_.size() == strip.size();
  if (!known) {
    const std::vector<RowLayout::Shown>& shown = frame.layout->shown();
    const int sticky = frame.sticky_height();
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const int y = frame.screen_y(shown[i].y);
      const bool stays = shown[i].pinned && sticky;
      if (!stays && y >= frame.size.height()) break;
      if (stays || y + shown[i].height > frame.header_height() + sticky)
        paint_name(painter, frame, shown[i]);
    }
    names_ = QImage(strip.size(), QImage::Format_RGB32);
    names_key_ = key;
  }
  for (int y = 0; y < strip.height(); ++y) {
    uchar* line = image.scanLine(strip.top() + y) + qsizetype{strip.left()} * 4;
    if (known) {
      std::memcpy(line, names_.constScanLine(y), static_cast<std::size_t>(bytes));
    } else {
      std::memcpy(names_.scanLine(y), line, static_cast<std::size_t>(bytes));
    }
  }
}

std::uint64_t RowsPass::names_key(const Frame& frame) const {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  auto add = [&](std::uint64_t value) { hash = (hash ^ value) * 1099511628211u; };
  auto add_text = [&](std::string_view text) {
    for (char c : text) add(static_cast<unsigned char>(c));
    add(256);
  };
  add(static_cast<std::uint64_t>(frame.scroll));
  add(static_cast<std::uint64_t>(frame.size.width()) << 32 |
      static_cast<std::uint64_t>(frame.size.height()));
  add(static_cast<std::uint64_t>(frame.gutter));
  add(static_cast<std::uint64_t>(frame.header_height()));
  add(static_cast<std::uint64_t>(frame.pixel_ratio * 1000));
  add(frame.theme->dark);
  add(frame.current_row.value);
  add_text(frame.font.key().toStdString());
  const std::vector<RowLayout::Shown>& shown = frame.layout->shown();
  const std::size_t first =
      frame.sticky_height()
          ? 0
          : frame.layout->index_at(std::max<std::int64_t>(0, frame.scroll)).value_or(0);
  for (std::size_t i = first; i < shown.size(); ++i) {
    const int y = frame.screen_y(shown[i].y);
    if (y >= frame.size.height() && !shown[i].pinned) break;
    if (y + shown[i].height < frame.header_height()) continue;
    const Row& row = frame.model->row(shown[i].row);
    add(static_cast<std::uint64_t>(y) << 32 | static_cast<std::uint64_t>(shown[i].height));
    add(shown[i].row.value);
    add(shown[i].depth | (shown[i].pinned ? 256u : 0u) |
        (frame.layout->is_folded(shown[i].row) ? 512u : 0u));
    add_text(row.label);
    add_text(row.detail);
    add(row.lanes.size());
    if (frame.hits) add(frame.hits->in_row(shown[i].row) + 1);
  }
  return hash;
}

/// Paints the background: the time area with its grid, and the column of names.
void RowsPass::paint_ground(QPainter& painter, const Frame& frame, int top, int height) {
  const Theme& theme = *frame.theme;
  painter.fillRect(QRect(frame.gutter, top, frame.area_width(), height), theme.base);
  painter.fillRect(QRect(0, top, frame.gutter, height), theme.heading);
  const TimeMapping ruler = frame.mapping.shifted(TimeNs{} - frame.origin);
  for (const Ticks::Tick& tick : make_ticks(ruler, kRulerLabelWidth).ticks) {
    if (!tick.major) continue;
    int x = frame.gutter + static_cast<int>(ruler.x_of(tick.time));
    if (x >= frame.gutter) painter.fillRect(QRect(x, top, 1, height), theme.grid);
  }
}

/// Looks up the items of the lanes that paint_lanes() paints, in its order.
void RowsPass::collect_ahead(const QImage& image, const Frame& frame, const ColumnGrid& grid,
                             std::size_t first) {
  const std::vector<RowLayout::Shown>& shown = frame.layout->shown();
  const int height = frame.layout->metrics().lane;
  std::vector<const Lane*> lanes;
  auto add = [&](const RowLayout::Shown& one) {
    const Row& row = frame.model->row(one.row);
    if (const Lane* strip = strip_of(frame, one.row)) lanes.push_back(strip);
    if (row.kind == RowKind::kCounter || row.lanes.empty()) return;
    for (std::uint32_t l = 0; l < one.lanes; ++l) {
      const int y = frame.screen_y(frame.layout->lane_y(one, l));
      if (y + height <= frame.header_height() || y >= frame.size.height()) continue;
      lanes.push_back(&row.lanes[l]);
    }
  };
  for (std::size_t i = first; i < shown.size(); ++i) {
    if (frame.screen_y(shown[i].y) >= frame.size.height()) break;
    add(shown[i]);
  }
  if (frame.sticky_height()) {
    for (std::size_t i = 0; i < shown.size() && shown[i].pinned; ++i) add(shown[i]);
  }
  const QRect area = device_rect(QRect(frame.gutter, 0, frame.area_width(), 1), frame.pixel_ratio);
  lanes_.collect_ahead(lanes, grid,
                       std::min({grid.width(), area.width(), image.width() - area.left()}));
}

/// Paints the strip of a folded group, so that groups can be compared without unfolding them.
void RowsPass::paint_strip(QImage& image, QPainter& painter, const Frame& frame,
                           const ColumnGrid& grid, const RowLayout::Shown& shown) {
  const Lane* strip = strip_of(frame, shown.row);
  if (!strip) return;
  const QRect band(frame.gutter, frame.screen_y(shown.y) + 2, frame.area_width(), shown.height - 4);
  if (image.isNull()) {
    lanes_.draw(painter, band, *strip, grid, *frame.theme);
  } else {
    lanes_.paint(image, device_rect(band, frame.pixel_ratio), *strip, grid, *frame.theme);
  }
}

void RowsPass::paint_lanes(QImage& image, QPainter& painter, const Frame& frame, LabelCache& labels,
                           const ColumnGrid& grid, const RowLayout::Shown& shown) {
  const Row& row = frame.model->row(shown.row);
  const bool predicted = row.kind == RowKind::kPredicted;
  const Theme& theme = predicted ? frame.theme->predicted() : *frame.theme;
  const Lane* lane = nullptr;
  // Ops of one class have different shades by name: neighbours differ, and one kernel looks the
  // same.
  LanePass::ShadeOf shade_of;
  if (row.kind == RowKind::kStream)
    shade_of = [&](const LaneItem& item) {
      const std::uint32_t op = lane->rows(item.entry).front();
      return static_cast<int>(frame.model->trace->device_ops.name[op].value * 2654435761u >> 16) %
             3;
    };
  for (std::uint32_t l = 0; l < shown.lanes; ++l) {
    lane = &row.lanes[l];
    int y = frame.screen_y(frame.layout->lane_y(shown, l));
    int height = frame.layout->metrics().lane;
    if (y + height <= frame.header_height()) continue;
    if (y >= frame.size.height() || (image.isNull() && y + height > frame.size.height())) break;
    QRect band(frame.gutter, y, frame.area_width(), height - 1);
    QRect device = device_rect(band, frame.pixel_ratio);
    const std::vector<LaneItem>& items =
        image.isNull() ? lanes_.draw(painter, band, row.lanes[l], grid, theme)
                       : lanes_.paint(image, device, row.lanes[l], grid, theme, shade_of);
    if (predicted && !image.isNull()) paint_edges(image, frame, device, items);
    paint_labels(painter, frame, labels, shown.row, row.lanes[l], band, items);
    if (image.isNull()) continue;
    if (const Lane* gone = frame.predicted ? frame.predicted->gone(shown.row, l) : nullptr)
      paint_gone(image, frame, *gone, device, grid);
    if (frame.hits) paint_hits(image, frame, shown.row, l, device, items);
    if (const Lane* path = frame.path ? frame.path->lane(shown.row, l) : nullptr)
      paint_path(image, frame, *path, device, grid);
  }
}

/// Paints a line in the full colour below predicted items, so that their class is visible.
void RowsPass::paint_edges(QImage& image, const Frame& frame, const QRect& band,
                           const std::vector<LaneItem>& items) {
  const int height = std::max(2, static_cast<int>(std::lround(2 * frame.pixel_ratio)));
  for (const LaneItem& item : items)
    fill_device(image, band.left() + item.x, band.bottom() + 1 - height, item.width, height,
                frame.theme->role[static_cast<std::size_t>(item.color)]);
}

/// Paints a line through the events that the fix removes.
void RowsPass::paint_gone(QImage& image, const Frame& frame, const Lane& gone, const QRect& band,
                          const ColumnGrid& grid) {
  path_items_.clear();
  gone.collect(grid, 0, grid.width(), path_items_);
  const int height = std::max(2, static_cast<int>(std::lround(2 * frame.pixel_ratio)));
  for (const LaneItem& item : path_items_)
    fill_device(image, band.left() + item.x, band.center().y() - height / 2, item.width, height,
                frame.theme->error.rgb());
}

/// Paints a bar above the hits of a search.
void RowsPass::paint_hits(QImage& image, const Frame& frame, RowId row, std::uint32_t lane,
                          const QRect& band, const std::vector<LaneItem>& items) {
  const int height = std::max(2, static_cast<int>(std::lround(3 * frame.pixel_ratio)));
  for (const LaneItem& item : items) {
    if (frame.hits->any(row, lane, item))
      fill_device(image, band.left() + item.x, band.top(), item.width, height,
                  frame.theme->hit.rgb());
  }
}

/// Paints a bar below the items on the critical path, separated by a line in a colour of no class.
void RowsPass::paint_path(QImage& image, const Frame& frame, const Lane& path, const QRect& band,
                          const ColumnGrid& grid) {
  path_items_.clear();
  path.collect(grid, 0, grid.width(), path_items_);
  const int height = std::max(3, static_cast<int>(std::lround(4 * frame.pixel_ratio)));
  const int rim = std::max(1, static_cast<int>(std::lround(1.5 * frame.pixel_ratio)));
  for (const LaneItem& item : path_items_) {
    const int top = band.bottom() + 1 - height;
    fill_device(image, band.left() + item.x, top - rim, item.width, rim, frame.theme->base.rgb());
    fill_device(image, band.left() + item.x, top, item.width, height, frame.theme->path.rgb());
  }
}

void RowsPass::paint_labels(QPainter& painter, const Frame& frame, LabelCache& labels, RowId id,
                            const Lane& lane, const QRect& band,
                            const std::vector<LaneItem>& items) {
  const Row& row = frame.model->row(id);
  const double per_pixel = 1 / frame.pixel_ratio;
  const int above = (band.height() - labels.line_height()) / 2;
  const double baseline = band.top() + above + labels.ascent();
  constexpr double kLeastLabel = 22;
  constexpr double kPadding = 3;
  QRgb pen = 0;
  for (const LaneItem& item : items) {
    double width = item.width * per_pixel;
    if (width < kLeastLabel || item.count != 1) continue;
    const Theme& theme = row.kind == RowKind::kPredicted ? frame.theme->predicted() : *frame.theme;
    QRgb color = theme.role_text[static_cast<std::size_t>(item.color)];
    if (color != pen) painter.setPen(QColor::fromRgb(pen = color));
    double x = frame.gutter + item.x * per_pixel + kPadding;
    std::uint32_t trace_row = lane.rows(item.entry).front();
    if (row.kind == RowKind::kPartition) {
      const auto& segment = frame.model->analysis->partitions[row.subject].segments[trace_row];
      // Class labels are few; string ids far above those of the trace identify them in the cache.
      trace::StringId label{0xffffff00u + static_cast<std::uint32_t>(segment.time_class)};
      labels.draw(painter, label, analyzer::info(segment.time_class).label, x, baseline,
                  width - 2 * kPadding);
    } else {
      trace::StringId name = name_of_entry(*frame.model, id, trace_row);
      labels.draw(painter, name, frame.model->trace->strings[name], x, baseline,
                  width - 2 * kPadding);
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
  paint_scale(painter, frame, shown, counter);
}

/// Paints the axis: its greatest and least value, and a line between them.
void RowsPass::paint_scale(QPainter& painter, const Frame& frame, const RowLayout::Shown& shown,
                           const CounterLane& counter) {
  const int y = frame.screen_y(shown.y);
  QRect text(frame.gutter + 4, y, frame.area_width() - 8, shown.height);
  const std::string& unit = counter.series().unit;
  painter.fillRect(QRect(frame.gutter, y + shown.height / 2, frame.area_width(), 1),
                   frame.theme->grid);
  // With a background of its own, because the counter's line would run through the text.
  auto write = [&](double value, Qt::Alignment vertical) {
    const QString label = counter_text(value, unit);
    const Qt::Alignment where = Qt::AlignRight | vertical;
    painter.fillRect(
        painter.boundingRect(text, static_cast<int>(where), label).adjusted(-3, 0, 3, 0),
        frame.theme->base);
    painter.setPen(frame.theme->dim_text);
    painter.drawText(text, static_cast<int>(where), label);
  };
  write(counter.high(), Qt::AlignTop);
  if (shown.height >= 2 * painter.fontMetrics().height()) write(counter.low(), Qt::AlignBottom);
}

void RowsPass::paint_fold_mark(QPainter& painter, const Frame& frame, const QPointF& middle,
                               bool folded) {
  QPolygonF triangle =
      folded
          ? QPolygonF({middle + QPointF(-2, -4), middle + QPointF(3, 0), middle + QPointF(-2, 4)})
          : QPolygonF({middle + QPointF(-4, -2), middle + QPointF(4, -2), middle + QPointF(0, 3)});
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(frame.theme->dim_text);
  painter.drawPolygon(triangle);
  painter.setRenderHint(QPainter::Antialiasing, false);
}

/// The text beside a row's name: its detail, the parents of a pinned row, the number of lanes that
/// are folded away, and the number of search hits on it.
QString RowsPass::detail_of(const Frame& frame, const RowLayout::Shown& shown) const {
  const Row& row = frame.model->row(shown.row);
  QStringList parts;
  if (!row.detail.empty()) parts << QString::fromStdString(row.detail);
  if (shown.pinned && shown.depth == 0) {
    for (RowId above = row.parent; above.valid(); above = frame.model->row(above).parent)
      parts << QString::fromStdString(frame.model->row(above).label);
  }
  if (row.lanes.size() > 1 && frame.layout->is_folded(shown.row))
    parts << QStringLiteral("+%1").arg(row.lanes.size() - 1);
  if (frame.hits && !row.lanes.empty()) {
    if (std::size_t hits = frame.hits->in_row(shown.row))
      parts.prepend(QString::fromStdString(format_count(static_cast<std::int64_t>(hits))) +
                    (hits == 1 ? QStringLiteral(" hit") : QStringLiteral(" hits")));
  }
  return parts.join(QStringLiteral(" · "));
}

/// Draws the columns of a counter as rectangles; neighbours of the same height share one.
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
  const int line = row.is_heading() ? shown.height
                   : row.kind == RowKind::kCounter
                       ? shown.height / 2
                       : std::min(shown.height, frame.layout->metrics().lane);
  // The name of a row with several lanes stays visible while one of them is visible.
  const int top = frame.screen_y(shown.y);
  const int first =
      frame.header_height() + (shown.pinned && frame.sticky_height() ? 0 : frame.sticky_height());
  const int y =
      row.lanes.size() > 1 ? std::min(std::max(top, first), top + shown.height - line) : top;
  int x = 6 + shown.depth * kIndent;
  painter.save();
  painter.setClipRect(QRect(0, first, frame.gutter - 2, frame.size.height()));
  if (row.can_fold())
    paint_fold_mark(painter, frame, {x + 4.0, y + line / 2.0}, frame.layout->is_folded(shown.row));
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
  const QString detail = detail_of(frame, shown);
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
