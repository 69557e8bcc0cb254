// SPDX-License-Identifier: MIT
#pragma once

namespace headway::gui {

/// Describes TimelineViews to screen readers: the view as a list with the selection as its
/// description, and each row, visible or not, as an item with its name, its state and the visible
/// time range. Call once; later calls do nothing.
void make_timeline_accessible();

}  // namespace headway::gui
