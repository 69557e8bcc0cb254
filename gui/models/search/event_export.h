// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "analyzer/model/event_ref.h"
#include "gui/models/opening/session.h"

namespace headway::gui {

/// Which events to write out.
struct EventSelection {
  Interval time;               ///< events that overlap it
  std::string_view name = {};  ///< if set: only events of this name, at any time; refers to a text
                               ///< of the trace
};

/// Writes events as CSV (RFC 4180), one row each: kind, start_ns, end_ns, duration_ns, name, where,
/// op of the model. Ranges first, then calls, then device ops, each by start. Passes the text to
/// `write` in pieces, so that memory stays small. Cost: linear in the events of the trace. Any
/// thread. Returns the number of rows.
std::size_t write_events_csv(const Session& session, const EventSelection& selection,
                             const std::function<void(std::string_view)>& write);

}  // namespace headway::gui
