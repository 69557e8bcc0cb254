// SPDX-License-Identifier: MIT
#pragma once

#include <QImage>
#include <QPainter>
#include <QRect>
#include <functional>
#include <optional>
#include <vector>

#include "gui/models/timeline/lane.h"
#include "gui/timeline/theme.h"

namespace headway::gui {

/// Fills the boxes of lanes directly into the pixels of an image: the cost of a lane does not
/// depend on its number of boxes. Keeps only scratch memory between calls.
class LanePass {
 public:
  /// Returns which of the three shades of its colour an event has.
  using ShadeOf = std::function<int(const LaneItem&)>;

  /// Looks up the items of `lanes` in the first `width` columns; `paint` must be called with these
  /// lanes in this order. Uses all cores when there is much to look up, and the results of the last
  /// call when the view has only moved. A lane that is painted out of order is looked up then.
  void collect_ahead(const std::vector<const Lane*>& lanes, const ColumnGrid& grid, int width);
  /// Draws the items of `lane` into `band` (device pixels; the grid's column 0 is at its left
  /// edge). A single event fills the height of the band. An item that is one pixel wide or merged
  /// stands on the band's floor; its height is the share of time that events cover. The items stay
  /// valid until the next call: labels are drawn from them.
  const std::vector<LaneItem>& paint(QImage& image, const QRect& band, const Lane& lane,
                                     const ColumnGrid& grid, const Theme& theme,
                                     const ShadeOf& shade_of = {});
  /// The same as one rectangle per item, in logical pixels: for vector pictures.
  const std::vector<LaneItem>& draw(QPainter& painter, const QRect& band, const Lane& lane,
                                    const ColumnGrid& grid, const Theme& theme);

 private:
  /// The items of a lane, looked up before it is painted.
  struct Ahead {
    Lane lane;
    std::vector<LaneItem> items;
  };
  std::vector<Ahead> ahead_;
  std::vector<Ahead> before_;  ///< from the previous call
  std::optional<ColumnGrid> ahead_grid_;
  std::size_t next_ahead_ = 0;  ///< the lane that paint() should ask for next
  int ahead_width_ = 0;
  std::vector<LaneItem> items_;
  std::vector<QRgb> color_;        ///< by column of the lane being painted
  std::vector<std::int32_t> top_;  ///< likewise: the first pixel line of its box
  std::vector<Hatch> hatch_;       ///< by column; empty: nothing on the lane is hatched
  std::vector<QRgb> stripe_;

  const std::vector<LaneItem>& items_of(const Lane& lane, const ColumnGrid& grid, int width);
  void paint_stripes(QRgb* line, int y, int width, int height) const;
};

}  // namespace headway::gui
