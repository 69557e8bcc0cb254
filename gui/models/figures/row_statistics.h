// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>

#include "gui/models/tables/linked_table.h"
#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// What each row does in a stretch of time: how long it is busy and idle, how many events it has, how
/// long they are, and the names with most time. Rows without an event there are left out. A row leads
/// to its longest event. Cost grows with the events inside; any thread. Null when `*cancelled` becomes
/// true.
std::shared_ptr<const LinkedTable> row_statistics(const TimelineModel& model, Interval when,
                                                  const std::atomic<bool>* cancelled = nullptr);

}  // namespace headway::gui
