// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/models/details/source_place.h"
#include "gui/models/timeline/event_links.h"
#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// A line of the details panel. The texts are ready to be shown (see display_text).
struct Detail {
  std::string label;                       ///< "Duration"; a heading when `value` is empty
  std::string value;                       ///< "12.3 µs"
  Target link = {};                        ///< the target to show when the value is clicked
  std::optional<SourcePlace> source = {};  ///< if set: a click opens this source line
};

/// Everything known about one target on the timeline, the most important lines first. `statistics`:
/// also include lines that need a pass over a table of the trace.
std::vector<Detail> describe(const TimelineModel& model, const Target& target,
                             bool statistics = true);

/// The links of an event, under a heading; empty without links. At most a dozen lines.
std::vector<Detail> describe(const trace::Trace& trace, analyzer::EventRef event,
                             const std::vector<EventLink>& links);

/// The few lines for a note at the pointer; cheap enough for every movement of the pointer.
std::vector<Detail> describe_briefly(const TimelineModel& model, const Target& target);

/// Summary of a time range: its length, the time classes of each device, how busy each stream was,
/// the names with most time. Cost grows with the number of events inside.
std::vector<Detail> describe(const TimelineModel& model, Interval selection);

/// The title of a target: the name of an event, the class of a segment, "Step 12".
std::string title_of(const TimelineModel& model, const Target& target);

/// "main" or "Thread 1234"; "Stream 7 · compute".
std::string thread_label(const trace::Trace& trace, trace::ThreadId thread);
std::string stream_label(const trace::Trace& trace, trace::StreamId stream);
/// A row with its parents: "main › Device API". Names the process or device if there are several:
/// "GPU 1 › Stream 7". Empty for no row.
std::string row_path(const TimelineModel& model, RowId row);

}  // namespace headway::gui
