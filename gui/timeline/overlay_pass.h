// SPDX-License-Identifier: MIT
#pragma once

#include <QPainter>
#include <optional>
#include <vector>

#include "gui/models/timeline/bookmarks.h"
#include "gui/models/timeline/event_links.h"
#include "gui/models/timeline/measure.h"
#include "gui/timeline/frame.h"

namespace headway::gui {

/// What is drawn over a picture of the timeline and changes without repainting the picture.
struct Overlay {
  Target selection;
  Target hovered;
  Interval range;                ///< selected time; empty: none
  int pointer_x = -1;            ///< vertical line at the pointer; -1: none
  std::vector<EventLink> links;  ///< of the selection
  Measure measure;
  std::optional<TimeNs> measured_to;  ///< end of the measured time while one mark is set
  QRect zoom_box;                     ///< box that the user is drawing; empty: none
  int drop_y = -1;                    ///< where a dragged row would be dropped; -1: none
  const std::vector<Bookmark>* bookmarks = nullptr;  ///< null: none
};

/// Draws selection, hovered event, links, the critical path's steps from row to row, the selected
/// time, marks and bookmarks. The width of the view bounds the cost, for any trace.
void paint_overlay(QPainter& painter, const Frame& frame, const Overlay& overlay);

/// The box of a target on screen, at least one pixel wide. None when the target is not in the trace
/// or its row is hidden. If its row is folded away, the box is on the row that hides it.
std::optional<QRectF> box_of(const Frame& frame, const Target& target);

/// The other end of the link of a selected call or device op; none without a link.
Target linked(const TimelineModel& model, const Target& target);

/// The bookmark whose flag is at `x` of the drawing area; none when none is near.
std::optional<std::size_t> bookmark_at(const Frame& frame, const std::vector<Bookmark>& bookmarks,
                                       double x);

}  // namespace headway::gui
