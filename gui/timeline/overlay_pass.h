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

/// What lies over a picture of the timeline and changes without it.
struct Overlay {
  Target selection;
  Target hovered;
  Interval range;                ///< selected time; empty: none
  int pointer_x = -1;            ///< vertical line at the pointer; -1: none
  std::vector<EventLink> links;  ///< of the selection
  Measure measure;
  std::optional<TimeNs> measured_to;  ///< where the pointer measures to while one mark is set
  QRect zoom_box;                     ///< being drawn; empty: none
  int drop_y = -1;                    ///< where a row that is dragged would go; -1: none
  const std::vector<Bookmark>* bookmarks = nullptr;  ///< null: none
};

/// Draws selection, hovered event, links, the critical path's steps from row to row, the selected
/// time, marks and bookmarks. Its cost is bounded by the width of the view, whatever the trace.
void paint_overlay(QPainter& painter, const Frame& frame, const Overlay& overlay);

/// Where a target is on screen: its box, of a pixel's width at least. None when it is not in the
/// trace or its row is hidden. When its row is folded away the box is on the row that hides it.
std::optional<QRectF> box_of(const Frame& frame, const Target& target);

/// The other end of the link that a selected call or device op has; none without one.
Target linked(const TimelineModel& model, const Target& target);

/// The bookmark whose flag is at `x` of the drawing area; none when none is near.
std::optional<std::size_t> bookmark_at(const Frame& frame, const std::vector<Bookmark>& bookmarks,
                                       double x);

}  // namespace headway::gui
