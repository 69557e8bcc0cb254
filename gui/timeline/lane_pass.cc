// SPDX-License-Identifier: MIT
#include "gui/timeline/lane_pass.h"

#include <algorithm>

#include "common/parallel.h"

namespace headway::gui {
namespace {

// Minimum height, so that even an event of a nanosecond is visible in a view of an hour.
constexpr double kLeastHeight = 0.3;
/// Narrower boxes have no room for stripes.
constexpr int kLeastHatched = 8;
/// In narrower boxes the shades cannot be distinguished.
constexpr int kLeastShaded = 3;
/// A lane of this height in device pixels is on a screen with a pixel ratio of about 2.
constexpr int kDenseHeight = 28;
/// With fewer entries additional threads are not worthwhile.
constexpr std::size_t kWorthThreads = 500'000;

/// Sets the pixels of line `y` of a band to their column's colour, where the line is below the
/// column's top. Uses masks instead of a conditional: GCC 12 turns a conditional assignment into a
/// conditional store, which it cannot vectorise.
void fill_line(QRgb* __restrict line, const QRgb* __restrict color,
               const std::int32_t* __restrict top, int y, int width) {
  for (int x = 0; x < width; ++x) {
    const QRgb mask = QRgb{0} - static_cast<QRgb>(top[x] <= y);
    line[x] = (color[x] & mask) | (line[x] & ~mask);
  }
}

bool is_box(const LaneItem& item) {
  return item.count == 1 && item.width > 1;
}

/// The top line of an item in a band of that height.
int top_of(const LaneItem& item, int height) {
  if (is_box(item)) return 0;
  double filled = std::max(kLeastHeight, item.fill / 255.0);
  return height - std::max(1, static_cast<int>(filled * height + 0.5));
}

}  // namespace

void LanePass::collect_ahead(const std::vector<const Lane*>& lanes, const ColumnGrid& grid,
                             int width) {
  std::optional<int> moved;
  if (ahead_grid_ && ahead_width_ == width) moved = grid.columns_after(*ahead_grid_);
  ahead_.swap(before_);
  ahead_.resize(lanes.size());
  ahead_grid_ = grid;
  ahead_width_ = width;
  next_ahead_ = 0;
  if (width <= 0) return ahead_.clear();
  auto collect = [&](std::size_t i) {
    ahead_[i].lane = *lanes[i];
    ahead_[i].items.clear();
    auto known = before_.end();
    if (moved) {
      known = std::find_if(before_.begin(), before_.end(),
                           [&](const Ahead& one) { return one.lane.is(*lanes[i]); });
    }
    if (known != before_.end()) {
      lanes[i]->collect_moved(grid, width, known->items, *moved, ahead_[i].items);
    } else {
      lanes[i]->collect(grid, 0, width, ahead_[i].items);
    }
  };
  std::size_t entries = 0;
  for (const Lane* lane : lanes) entries += lane->entries();
  run_parallel(lanes.size(), collect, moved || entries < kWorthThreads ? 1 : 0);
}

/// The items of `lane`: those looked up ahead if the lane comes in that order.
const std::vector<LaneItem>& LanePass::items_of(const Lane& lane, const ColumnGrid& grid,
                                                int width) {
  if (next_ahead_ < ahead_.size() && ahead_[next_ahead_].lane.is(lane) && ahead_width_ == width)
    return ahead_[next_ahead_++].items;
  items_.clear();
  lane.collect(grid, 0, width, items_);
  return items_;
}

const std::vector<LaneItem>& LanePass::paint(QImage& image, const QRect& band, const Lane& lane,
                                             const ColumnGrid& grid, const Theme& theme,
                                             const ShadeOf& shade_of) {
  const int width = std::min({grid.width(), band.width(), image.width() - band.left()});
  const std::vector<LaneItem>& items = items_of(lane, grid, width);
  if (items.empty() || width <= 0) return items;
  const int height = band.height();
  color_.resize(static_cast<std::size_t>(width));
  top_.assign(static_cast<std::size_t>(width), height);
  hatch_.clear();
  const LaneItem* previous = nullptr;
  for (const LaneItem& item : items) {
    const bool box = is_box(item);
    const bool shaded =
        shade_of && box && item.width >= kLeastShaded && Theme::hatch(item.color) == Hatch::kNone;
    const QRgb color = theme.shade(item.color, shaded ? shade_of(item) : 0);
    const int top = top_of(item, height);
    const int end = std::min(item.x + item.width, width);
    std::fill(color_.begin() + item.x, color_.begin() + end, color);
    std::fill(top_.begin() + item.x, top_.begin() + end, top);
    // A hairline separates two touching boxes.
    bool touches = previous && previous->x + previous->width == item.x;
    if (box && touches && item.width >= 4)
      color_[static_cast<std::size_t>(item.x)] = blend(color, theme.base.rgb(), 0.55);
    if (box && item.width >= kLeastHatched && Theme::hatch(item.color) != Hatch::kNone) {
      hatch_.resize(static_cast<std::size_t>(width), Hatch::kNone);
      stripe_.resize(static_cast<std::size_t>(width));
      std::fill(hatch_.begin() + item.x, hatch_.begin() + end, Theme::hatch(item.color));
      std::fill(stripe_.begin() + item.x, stripe_.begin() + end,
                theme.stripe[static_cast<std::size_t>(item.color)]);
    }
    previous = &item;
  }
  const int first = std::max(0, -band.top());
  const int last = std::min(height, image.height() - band.top());
  for (int y = first; y < last; ++y) {
    QRgb* line = reinterpret_cast<QRgb*>(image.scanLine(band.top() + y)) + band.left();
    fill_line(line, color_.data(), top_.data(), y, width);
    if (!hatch_.empty()) paint_stripes(line, y, width, height);
  }
  return items;
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
    // As in paint(): a hairline separates two touching boxes.
    bool touches = previous && previous->x + previous->width == item.x;
    const int begin = item.x + (touches && is_box(item) && item.width >= 4 ? 1 : 0);
    painter.fillRect(QRect(band.left() + begin, band.top() + top, end - begin, band.height() - top),
                     QColor::fromRgb(theme.role[static_cast<std::size_t>(item.color)]));
    previous = &item;
  }
  return items_;
}

void LanePass::paint_stripes(QRgb* line, int y, int width, int height) const {
  const int period = height >= kDenseHeight ? 16 : 8;  // the same apparent width on screens with
                                                       // more pixels
  for (int x = 0; x < width; ++x) {
    const Hatch lines = hatch_[static_cast<std::size_t>(x)];
    if (lines == Hatch::kNone) continue;
    const int phase = lines == Hatch::kRising ? x + y : x - y + 256 * period;
    if (phase % period < period * 3 / 8) line[x] = stripe_[static_cast<std::size_t>(x)];
  }
}

}  // namespace headway::gui
