// SPDX-License-Identifier: MIT
#pragma once

#include <QImage>
#include <QPainter>

#include "gui/timeline/frame.h"
#include "gui/timeline/lane_pass.h"

namespace headway::gui {

/// Draws what stands above the rows: the overview of the whole trace with the visible part marked,
/// the ruler and the steps.
class HeaderPass {
 public:
  /// As RowsPass::paint.
  void paint(QImage& image, QPainter& painter, const Frame& frame);

 private:
  void paint_overview(QImage& image, QPainter& painter, const Frame& frame);
  void paint_ruler(QPainter& painter, const Frame& frame);
  void paint_steps(QImage& image, QPainter& painter, const Frame& frame);

  LanePass lanes_;
};

/// The lane that stands for the whole trace in the overview: the classes of the first device, else
/// the first line of the first row that has one.
const Lane* overview_lane(const TimelineModel& model);

}  // namespace headway::gui
