// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/models/details/source_place.h"
#include "gui/models/timeline/event_links.h"
#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// A line of the details panel. Texts are fit to be shown (display_text).
struct Detail {
  std::string label;                       ///< "Duration"; a heading when `value` is empty
  std::string value;                       ///< "12.3 µs"
  Target link = {};                        ///< where the value leads when followed
  std::optional<SourcePlace> source = {};  ///< the value opens this line in the editor instead
};

/// Everything known about one thing of the timeline, most wanted first. `statistics`: with what takes
/// a pass over a table of the trace.
std::vector<Detail> describe(const TimelineModel& model, const Target& target,
                             bool statistics = true);

/// What an event is linked to, under a heading; nothing without links. At most a dozen lines.
std::vector<Detail> describe(const trace::Trace& trace, analyzer::EventRef event,
                             const std::vector<EventLink>& links);

/// The few lines of it that a note at the pointer has room for; cheap enough for every movement.
std::vector<Detail> describe_briefly(const TimelineModel& model, const Target& target);

/// What a stretch of time amounts to: its length, the classes of each device, how busy each stream
/// was, the names with most time. Cost grows with the events inside.
std::vector<Detail> describe(const TimelineModel& model, Interval selection);

/// A name for a target: that of the event, the class of a segment, "Step 12".
std::string title_of(const TimelineModel& model, const Target& target);

/// "main" or "Thread 1234"; "Stream 7 · compute".
std::string thread_label(const trace::Trace& trace, trace::ThreadId thread);
std::string stream_label(const trace::Trace& trace, trace::StreamId stream);
/// A row with what it stands under: "main › Device API". Of several processes or devices with which one: "GPU 1 › Stream 7".
/// Empty for none.
std::string row_path(const TimelineModel& model, RowId row);

}  // namespace headway::gui
