// SPDX-License-Identifier: MIT
#pragma once

#include <QImage>
#include <QPainter>

#include "gui/timeline/frame.h"
#include "gui/timeline/label_cache.h"
#include "gui/timeline/lane_pass.h"

namespace headway::gui {

/// Draws the rows: headings, lanes with their labels, counters, the names at the left.
class RowsPass {
 public:
  /// `image` (RGB32, `frame.pixel_ratio` set) is the image of the whole frame; `painter` draws on
  /// it in logical pixels. With a null image (pixel ratio 1) the painter draws everything, as
  /// vectors.
  void paint(QImage& image, QPainter& painter, const Frame& frame, LabelCache& labels);

 private:
  void paint_ground(QPainter& painter, const Frame& frame, int top, int height);
  void paint_row(QImage& image, QPainter& painter, const Frame& frame, LabelCache& labels,
                 const ColumnGrid& grid, const RowLayout::Shown& shown);
  void collect_ahead(const QImage& image, const Frame& frame, const ColumnGrid& grid,
                     std::size_t first);
  void paint_lanes(QImage& image, QPainter& painter, const Frame& frame, LabelCache& labels,
                   const ColumnGrid& grid, const RowLayout::Shown& shown);
  void paint_strip(QImage& image, QPainter& painter, const Frame& frame, const ColumnGrid& grid,
                   const RowLayout::Shown& shown);
  void paint_labels(QPainter& painter, const Frame& frame, LabelCache& labels, RowId row,
                    const Lane& lane, const QRect& band, const std::vector<LaneItem>& items);
  void paint_counter(QImage& image, QPainter& painter, const Frame& frame, const ColumnGrid& grid,
                     const RowLayout::Shown& shown);
  template <class ToY>
  void draw_counter(QPainter& painter, const Frame& frame, const QRect& band, ToY y_of);
  void paint_hits(QImage& image, const Frame& frame, RowId row, std::uint32_t lane,
                  const QRect& band, const std::vector<LaneItem>& items);
  void paint_path(QImage& image, const Frame& frame, const Lane& path, const QRect& band,
                  const ColumnGrid& grid);
  void paint_gone(QImage& image, const Frame& frame, const Lane& gone, const QRect& band,
                  const ColumnGrid& grid);
  void paint_edges(QImage& image, const Frame& frame, const QRect& band,
                   const std::vector<LaneItem>& items);
  void paint_name(QPainter& painter, const Frame& frame, const RowLayout::Shown& shown);
  void paint_scale(QPainter& painter, const Frame& frame, const RowLayout::Shown& shown,
                   const CounterLane& counter);
  QString detail_of(const Frame& frame, const RowLayout::Shown& shown) const;
  void paint_fold_mark(QPainter& painter, const Frame& frame, const QPointF& middle, bool folded);

  void paint_names(QImage& image, QPainter& painter, const Frame& frame);
  std::uint64_t names_key(const Frame& frame) const;

  LanePass lanes_;
  QImage names_;                 ///< the names as they were last painted
  std::uint64_t names_key_ = 0;  ///< hash of all inputs of `names_`
  std::vector<CounterColumn> columns_;
  std::vector<LaneItem> path_items_;
};

/// The lane that a folded heading shows for the rows below it; null: none.
const Lane* strip_of(const Frame& frame, RowId row);

/// "1.50 GB" for bytes, "85 %" for shares, plain otherwise.
QString counter_text(double value, const std::string& unit);

}  // namespace headway::gui
