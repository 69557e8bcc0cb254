// SPDX-License-Identifier: MIT
#pragma once

#include <QImage>
#include <QPainter>

#include "gui/timeline/frame.h"
#include "gui/timeline/lane_pass.h"

namespace headway::gui {

/// Draws the header above the rows: the overview of the whole trace with the visible part marked,
/// the ruler and the steps.
class HeaderPass {
 public:
  /// As RowsPass::paint.
  void paint(QImage& image, QPainter& painter, const Frame& frame);

 private:
  /// The cached boxes of the overview with their background. In a large trace each column is a
  /// cache miss, and the overview changes only with the trace, the width or the theme.
  struct Strip {
    Lane lane;
    Interval bounds;
    const Theme* theme = nullptr;
    QImage pixels;
  };

  const QImage& overview_strip(const Lane& lane, const Frame& frame, QSize size);
  void paint_overview(QImage& image, QPainter& painter, const Frame& frame);
  void paint_ruler(QPainter& painter, const Frame& frame);
  void paint_steps(QImage& image, QPainter& painter, const Frame& frame);

  LanePass lanes_;
  Strip overview_;
};

/// The lane that represents the whole trace in the overview: the classes of the first device, else
/// the first lane of the first row that has one.
const Lane* overview_lane(const TimelineModel& model);

}  // namespace headway::gui
