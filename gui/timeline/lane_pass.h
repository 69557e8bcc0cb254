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

/// Fills the boxes of lanes straight into the pixels of an image: a lane costs the same however
/// many boxes it has. Keeps only scratch memory between calls.
class LanePass {
 public:
  /// Which of the three shades of its colour an event has.
  using ShadeOf = std::function<int(const LaneItem&)>;

  /// Looks up what `lanes`, which `paint` will be given next and in this order, show in the first
  /// `width` columns: on all cores when there is much to look up, and from the last call's when the
  /// view has only moved. A lane that then comes out of order is looked up as without.
  void collect_ahead(const std::vector<const Lane*>& lanes, const ColumnGrid& grid, int width);
  /// Draws what `lane` shows into `band` (device pixels; the grid's column 0 is at its left edge).
  /// One event fills the height of the band; what is one pixel wide or merged stands on the
  /// band's floor, as high as the share of time that events cover. The items stay valid until the
  /// next call: labels are drawn from them.
  const std::vector<LaneItem>& paint(QImage& image, const QRect& band, const Lane& lane,
                                     const ColumnGrid& grid, const Theme& theme,
                                     const ShadeOf& shade_of = {});
  /// The same as rectangles, in logical pixels and one to each item: for pictures of vectors.
  const std::vector<LaneItem>& draw(QPainter& painter, const QRect& band, const Lane& lane,
                                    const ColumnGrid& grid, const Theme& theme);

 private:
  /// What one lane shows, looked up before it is painted.
  struct Ahead {
    Lane lane;
    std::vector<LaneItem> items;
  };
  std::vector<Ahead> ahead_;
  std::vector<Ahead> before_;  ///< of the call before
  std::optional<ColumnGrid> ahead_grid_;
  std::size_t next_ahead_ = 0;  ///< the lane that paint() should ask for next
  int ahead_width_ = 0;
  std::vector<LaneItem> items_;
  std::vector<QRgb> color_;        ///< by column of the lane that is painted
  std::vector<std::int32_t> top_;  ///< likewise: the first line of its box
  std::vector<Hatch> hatch_;       ///< by column; empty: nothing on the lane has stripes
  std::vector<QRgb> stripe_;

  const std::vector<LaneItem>& items_of(const Lane& lane, const ColumnGrid& grid, int width);
  void paint_stripes(QRgb* line, int y, int width, int height) const;
};

}  // namespace headway::gui
