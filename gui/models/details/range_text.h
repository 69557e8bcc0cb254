// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// The events that overlap a time range, by start, as tab-separated lines with a heading: start and
/// duration in nanoseconds, kind, name, where. After `most` lines, a last line gives the number of
/// further events. Names are escaped to fit one line.
std::string events_as_text(const TimelineModel& model, Interval when, std::size_t most = 50'000);

/// True when the trace was read from an SQLite file, so that a SELECT can return its rows. Reads
/// the first bytes of the file.
bool is_sqlite_file(const trace::Trace& trace);

/// A SELECT that returns the same events from the trace's SQLite file: kind, start, end, name of
/// every range, call and device op that overlaps the time range, by start. Only numbers are
/// inserted into its text.
std::string events_as_sql(const trace::Trace& trace, Interval when);
/// A SELECT that returns the row of one event.
std::string event_as_sql(const trace::Trace& trace, analyzer::EventRef event);

}  // namespace headway::gui
