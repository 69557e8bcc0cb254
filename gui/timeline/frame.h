// SPDX-License-Identifier: MIT
#pragma once

#include <QFont>
#include <QRect>
#include <cstdint>

#include "gui/models/prediction/predicted_timeline.h"
#include "gui/models/search/hit_marks.h"
#include "gui/models/timeline/path_lanes.h"
#include "gui/models/timeline/row_layout.h"
#include "gui/models/timeline/time_mapping.h"
#include "gui/models/timeline/timeline_model.h"
#include "gui/timeline/theme.h"

namespace headway::gui {

/// All inputs of a picture of the timeline. Lengths in logical pixels. The render passes read it
/// and keep nothing.
struct Frame {
  const TimelineModel* model = nullptr;
  const RowLayout* layout = nullptr;
  const Theme* theme = nullptr;
  QFont font;                                    ///< font of labels; the rows' heights follow it
  TimeMapping mapping;                           ///< of the area to the right of the names
  TimeNs origin;                                 ///< what the ruler counts from
  std::int64_t scroll = 0;                       ///< offset of the rows that are not pinned
  QSize size;                                    ///< of the whole view
  int gutter = 220;                              ///< width of the names
  double pixel_ratio = 1;                        ///< device pixels of a logical pixel
  const HitMarks* hits = nullptr;                ///< hits of a search; null: none
  const PathLanes* path = nullptr;               ///< the critical path; null: not shown
  const PredictedTimeline* predicted = nullptr;  ///< if `model` is of a prediction; null: none
  RowId current_row = {};                        ///< the row that keys act on; none: no such row

  int overview_height() const { return 20; }
  int ruler_height() const { return layout->metrics().heading + 2; }
  int steps_height() const { return model->steps.entries() ? layout->metrics().lane + 3 : 0; }
  int header_height() const { return overview_height() + ruler_height() + steps_height(); }

  int area_width() const { return std::max(1, size.width() - gutter); }
  QRect overview_rect() const { return {gutter, 0, area_width(), overview_height()}; }
  QRect ruler_rect() const { return {gutter, overview_height(), area_width(), ruler_height()}; }
  QRect steps_rect() const {
    return {gutter, overview_height() + ruler_height(), area_width(), steps_height()};
  }
  /// Names and drawing area of the rows.
  QRect rows_rect() const {
    return {0, header_height(), size.width(), std::max(0, size.height() - header_height())};
  }
  QRect area_rect() const {
    return {gutter, header_height(), area_width(), std::max(0, size.height() - header_height())};
  }
  /// Height of the pinned rows, which stay in place while the others scroll. If they would fill
  /// more than 60 % of the view, they scroll, too.
  int sticky_height() const {
    std::int64_t pinned = layout->pinned_height();
    return pinned <= rows_rect().height() * 6 / 10 ? static_cast<int>(pinned) : 0;
  }
  /// Converts a `y` of the layout to a position on screen. layout_y() converts back.
  int screen_y(std::int64_t y) const {
    return static_cast<int>(y < sticky_height() ? y : y - scroll) + header_height();
  }
  std::int64_t layout_y(int screen) const {
    int off = screen - header_height();
    return off < sticky_height() ? off : off + scroll;
  }
  /// The area of the scrolling rows: below the pinned ones.
  QRect scrolling_rect() const { return area_rect().adjusted(0, sticky_height(), 0, 0); }
  /// The whole trace over the width of the overview.
  TimeMapping overview_mapping() const { return TimeMapping(model->bounds, area_width()); }
};

/// Room for a label of the ruler, in logical pixels.
inline constexpr int kRulerLabelWidth = 92;

/// A rectangle in device pixels; adjacent rectangles stay adjacent.
QRect device_rect(const QRect& rect, double ratio);
/// Row heights for a font.
RowMetrics metrics_for(const QFont& font);
/// The font of labels, derived from the program's font: a little smaller, because there are many
/// rows.
QFont label_font(const QFont& base);

}  // namespace headway::gui
