// SPDX-License-Identifier: MIT
#include "gui/models/details/range_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

#include "gui/models/details/details.h"
#include "gui/models/text/display_text.h"

namespace headway::gui {

using analyzer::EventRef;
using trace::DeviceOpKind;
using trace::DeviceType;
using trace::Trace;

namespace {

std::string_view kind_name(EventRef::Kind kind) {
  return kind == EventRef::Kind::kRange  ? "range"
         : kind == EventRef::Kind::kCall ? "call"
                                         : "device op";
}

std::string where_text(const Trace& trace, EventRef event) {
  switch (event.kind) {
    case EventRef::Kind::kRange:
      return thread_label(trace, trace.ranges.thread[event.index]);
    case EventRef::Kind::kCall:
      return thread_label(trace, trace.calls.thread[event.index]);
    case EventRef::Kind::kDeviceOp:
      return stream_label(trace, trace.device_ops.stream[event.index]);
    case EventRef::Kind::kNone:
      break;
  }
  return "";
}

/// A table of the file that holds events, and the SQL expressions to read them.
struct Source {
  std::string_view table;
  std::string_view kind;
  std::string_view end;     ///< expression
  std::string_view name;    ///< expression
  std::string_view filter;  ///< additional condition besides the time; may be empty
};

/// The name that the loader gives to launches of whole graphs.
constexpr std::string_view kGraphName = "[CUDA graph]";

constexpr Source kRanges = {
    "NVTX_EVENTS", "range",
    "coalesce(\"end\", CASE eventType WHEN 34 THEN start ELSE 9223372036854775807 END)",
    "coalesce((SELECT value FROM StringIds WHERE id = textId), text, '')",
    "eventType IN (34, 59, 60)"};
constexpr Source kOwnCalls = {"HEADWAY_DEVICE_CALL", "call",
                              "coalesce(\"end\", 9223372036854775807)",
                              "(SELECT value FROM StringIds WHERE id = nameId)", ""};
constexpr Source kCudaCalls = {"CUPTI_ACTIVITY_KIND_RUNTIME", "call", "\"end\"",
                               "(SELECT value FROM StringIds WHERE id = nameId)", ""};
constexpr Source kOwnOps = {"HEADWAY_DEVICE_OP", "device op",
                            "coalesce(\"end\", 9223372036854775807)",
                            "(SELECT value FROM StringIds WHERE id = nameId)", ""};
constexpr Source kKernels = {"CUPTI_ACTIVITY_KIND_KERNEL", "device op", "\"end\"",
                             "(SELECT value FROM StringIds WHERE id = demangledName)", ""};
constexpr Source kCopies = {"CUPTI_ACTIVITY_KIND_MEMCPY", "device op", "\"end\"", "'[copy]'", ""};
constexpr Source kSets = {"CUPTI_ACTIVITY_KIND_MEMSET", "device op", "\"end\"", "'[memset]'", ""};
constexpr Source kGraphs = {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "device op", "\"end\"",
                            "'[CUDA graph]'", ""};

bool is_copy(DeviceOpKind kind) {
  return kind == DeviceOpKind::kCopyHostToDevice || kind == DeviceOpKind::kCopyDeviceToHost ||
         kind == DeviceOpKind::kCopyDeviceToDevice || kind == DeviceOpKind::kCopyPeer ||
         kind == DeviceOpKind::kCopyHostToHost;
}

bool is_cuda(const Trace& trace, trace::StreamId stream) {
  return trace.devices[trace.streams[stream.value].device.value].type == DeviceType::kCuda;
}

bool is_graph(const Trace& trace, trace::DeviceOpId op) {
  return trace.strings[trace.device_ops.name[op.value]] == kGraphName;
}

const Source& source_of_op(const Trace& trace, trace::DeviceOpId op) {
  if (!is_cuda(trace, trace.device_ops.stream[op.value])) return kOwnOps;
  DeviceOpKind kind = trace.device_ops.kind[op.value];
  if (kind == DeviceOpKind::kMemset) return kSets;
  if (is_copy(kind)) return kCopies;
  return is_graph(trace, op) ? kGraphs : kKernels;
}

/// The table of a call. CUDA calls have correlation ids of CUPTI and are not in our stream table.
/// If a file has both kinds of devices, the call's name decides.
const Source& source_of_call(const Trace& trace, trace::CallId call) {
  std::string_view name = trace.strings[trace.calls.name[call.value]];
  return name.starts_with("cu") ? kCudaCalls : kOwnCalls;
}

/// The tables of the file that have rows. Querying a table that does not exist is an error.
std::vector<const Source*> sources_of(const Trace& trace) {
  std::vector<const Source*> sources;
  auto add = [&](const Source& source) {
    if (std::find(sources.begin(), sources.end(), &source) == sources.end())
      sources.push_back(&source);
  };
  if (trace.ranges.size()) add(kRanges);
  // There are few call names; the names in use show which tables exist.
  std::vector<bool> seen(trace.strings.size(), false);
  for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
    if (seen[trace.calls.name[c].value]) continue;
    seen[trace.calls.name[c].value] = true;
    add(source_of_call(trace, {c}));
  }
  // One op of each stream and kind is enough: streams are few, and the kind is one byte per op.
  const std::optional<trace::StringId> graph_name = trace.strings.find(kGraphName);
  for (std::size_t s = 0; s < trace.streams.size(); ++s) {
    unsigned kinds = 0;
    for (trace::DeviceOpId op : trace.ops_of_stream[trace::StreamId::from(s)]) {
      unsigned bit = 1u << static_cast<unsigned>(trace.device_ops.kind[op.value]);
      if (graph_name && trace.device_ops.name[op.value] == *graph_name) bit = 1u << 31;
      if (kinds & bit) continue;
      kinds |= bit;
      add(source_of_op(trace, op));
    }
  }
  return sources;
}

std::string select(const Source& source, std::string_view where) {
  return fmt::format("SELECT '{}' AS kind, start, {} AS \"end\", {} AS name FROM {}\n WHERE {}{}{}",
                     source.kind, source.end, source.name, source.table, source.filter,
                     source.filter.empty() ? "" : " AND ", where);
}

}  // namespace

std::string events_as_text(const TimelineModel& model, Interval when, std::size_t most) {
  const Trace& trace = *model.trace;
  std::vector<EventRef> events;
  std::size_t left_out = 0;
  for (std::size_t r = 0; r < model.rows.size(); ++r) {
    const Row& row = model.rows[r];
    if (row.is_derived()) continue;
    for (const Lane& lane : row.lanes) {
      auto [first, last] = lane.overlapping(when);
      for (std::uint32_t id : lane.rows(first, last - first)) {
        EventRef event = model.target_of(RowId::from(r), id).event;
        Interval own = analyzer::interval_of(trace, event);
        // An entry that merges overlapping events may reach further than each of them.
        if (own.begin >= when.end || (own.end <= when.begin && own.begin < when.begin)) continue;
        if (events.size() < most) {
          events.push_back(event);
        } else {
          ++left_out;
        }
      }
    }
  }
  std::sort(events.begin(), events.end(), [&](EventRef a, EventRef b) {
    return std::pair(analyzer::interval_of(trace, a).begin, a) <
           std::pair(analyzer::interval_of(trace, b).begin, b);
  });
  std::string text = "start_ns\tduration_ns\tkind\tname\twhere\n";
  for (EventRef event : events) {
    Interval own = analyzer::interval_of(trace, event);
    text +=
        fmt::format("{}\t{}\t{}\t{}\t{}\n", own.begin.ns, own.length().ns, kind_name(event.kind),
                    display_text(analyzer::name_of(trace, event)), where_text(trace, event));
  }
  if (left_out) text += fmt::format("# {} more events in this time\n", left_out);
  return text;
}

bool is_sqlite_file(const Trace& trace) {
  std::ifstream in(trace.path, std::ios::binary);
  std::string first(15, '\0');
  return in.read(first.data(), 15) && first == "SQLite format 3";
}

std::string events_as_sql(const Trace& trace, Interval when) {
  std::string sql;
  for (const Source* source : sources_of(trace)) {
    if (!sql.empty()) sql += "\nUNION ALL ";
    sql += select(*source, fmt::format("start < {} AND ({} > {} OR start >= {})", when.end.ns,
                                       source->end, when.begin.ns, when.begin.ns));
  }
  return sql.empty() ? "" : sql + "\nORDER BY 2;\n";
}

std::string event_as_sql(const Trace& trace, EventRef event) {
  const Source* source = &kRanges;
  if (event.kind == EventRef::Kind::kCall) source = &source_of_call(trace, {event.index});
  if (event.kind == EventRef::Kind::kDeviceOp) source = &source_of_op(trace, {event.index});
  Interval when = analyzer::interval_of(trace, event);
  return fmt::format("SELECT *, {} AS name FROM {}\n WHERE {}{}start = {} AND {} >= {};\n",
                     source->name, source->table, source->filter,
                     source->filter.empty() ? "" : " AND ", when.begin.ns, source->end,
                     when.end.ns);
}

}  // namespace headway::gui
