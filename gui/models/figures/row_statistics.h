// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>

#include "gui/models/tables/linked_table.h"
#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// Per row, for a time range: busy and idle time, number and durations of events, the names with
/// most time. Rows without an event in the range are left out. A row links to its longest event.
/// Cost grows with the number of events inside. Any thread. Null when `*cancelled` becomes true.
std::shared_ptr<const LinkedTable> row_statistics(const TimelineModel& model, Interval when,
                                                  const std::atomic<bool>* cancelled = nullptr);

}  // namespace headway::gui
