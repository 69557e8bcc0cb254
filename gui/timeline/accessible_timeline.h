// SPDX-License-Identifier: MIT
#pragma once

namespace headway::gui {

/// Tells screen readers what a TimelineView shows: itself as a list with the selection as its
/// description, and each row in sight or not as an item with its name, its state and the stretch of
/// time that is visible. Call once; later calls do nothing.
void make_timeline_accessible();

}  // namespace headway::gui
