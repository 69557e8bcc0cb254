// SPDX-License-Identifier: MIT
#include "gui/timeline/lane_pass.h"

#include <algorithm>

namespace headway::gui {
namespace {

// So that even an event of a nanosecond in a view of an hour is seen.
constexpr double kLeastHeight = 0.3;

bool is_box(const LaneItem& item) {
  return item.count == 1 && item.width > 1;
}

/// Where an item begins below the top of a band of that height.
int top_of(const LaneItem& item, int height) {
  if (is_box(item)) return 0;
  double filled = std::max(kLeastHeight, item.fill / 255.0);
  return height - std::max(1, static_cast<int>(filled * height + 0.5));
}

}  // namespace

const std::vector<LaneItem>& LanePass::paint(QImage& image, const QRect& band, const Lane& lane,
                                             const ColumnGrid& grid, const Theme& theme) {
  items_.clear();
  const int width = std::min({grid.width(), band.width(), image.width() - band.left()});
  lane.collect(grid, 0, width, items_);
  if (items_.empty() || width <= 0) return items_;
  const int height = band.height();
  color_.resize(static_cast<std::size_t>(width));
  top_.assign(static_cast<std::size_t>(width), height);
  const LaneItem* previous = nullptr;
  for (const LaneItem& item : items_) {
    const QRgb color = theme.role[static_cast<std::size_t>(item.color)];
    const bool box = is_box(item);
    const int top = top_of(item, height);
    const int end = std::min(item.x + item.width, width);
    std::fill(color_.begin() + item.x, color_.begin() + end, color);
    std::fill(top_.begin() + item.x, top_.begin() + end, top);
    // A hairline tells two touching boxes apart.
    bool touches = previous && previous->x + previous->width == item.x;
    if (box && touches && item.width >= 4)
      color_[static_cast<std::size_t>(item.x)] = blend(color, theme.base.rgb(), 0.55);
    previous = &item;
  }
  const int first = std::max(0, -band.top());
  const int last = std::min(height, image.height() - band.top());
  for (int y = first; y < last; ++y) {
    QRgb* line = reinterpret_cast<QRgb*>(image.scanLine(band.top() + y)) + band.left();
    const QRgb* color = color_.data();
    const std::int32_t* top = top_.data();
    for (int x = 0; x < width; ++x) line[x] = y >= top[x] ? color[x] : line[x];
  }
  return items_;
}

const std::vector<LaneItem>& LanePass::draw(QPainter& painter, const QRect& band, const Lane& lane,
                                            const ColumnGrid& grid, const Theme& theme) {
  items_.clear();
  const int width = std::min(grid.width(), band.width());
  if (width <= 0) return items_;
  lane.collect(grid, 0, width, items_);
  const LaneItem* previous = nullptr;
  for (const LaneItem& item : items_) {
    const int top = top_of(item, band.height());
    const int end = std::min(item.x + item.width, width);
    // Here too a hairline tells two touching boxes apart.
    bool touches = previous && previous->x + previous->width == item.x;
    const int begin = item.x + (touches && is_box(item) && item.width >= 4 ? 1 : 0);
    painter.fillRect(QRect(band.left() + begin, band.top() + top, end - begin, band.height() - top),
                     QColor::fromRgb(theme.role[static_cast<std::size_t>(item.color)]));
    previous = &item;
  }
  return items_;
}

}  // namespace headway::gui
