// SPDX-License-Identifier: MIT
#pragma once

#include <QPainter>
#include <optional>

#include "gui/timeline/frame.h"

namespace headway::gui {

/// What lies over a picture of the timeline and changes without it.
struct Overlay {
  Target selection;
  Target hovered;
  Interval range;      ///< selected time; empty: none
  int pointer_x = -1;  ///< vertical line at the pointer; -1: none
};

/// Draws selection, hovered event, the link between a call and its device op, the selected time.
void paint_overlay(QPainter& painter, const Frame& frame, const Overlay& overlay);

/// Where a target is on screen: its box, of a pixel's width at least. None when it is not in the
/// trace. When its row is folded away the box is on the row that hides it.
std::optional<QRectF> box_of(const Frame& frame, const Target& target);

/// The other end of the link that a selected call or device op has; none without one.
Target linked(const TimelineModel& model, const Target& target);

}  // namespace headway::gui
