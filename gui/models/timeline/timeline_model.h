// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "gui/models/timeline/counter_lane.h"
#include "gui/models/timeline/lane.h"
#include "gui/models/timeline/step_lengths.h"
#include "trace/trace.h"

namespace headway::analyzer {
struct PredictedStep;
}

namespace headway::gui {

using RowId = Id<struct RowTag>;

enum class RowKind : std::uint8_t {
  kProcess,      ///< heading; subject: ProcessId
  kDevice,       ///< heading; subject: DeviceId
  kMachine,      ///< heading of rows that belong to no process; no subject
  kLoaders,      ///< heading of the threads that make batches; subject: ProcessId
  kPartition,    ///< time classes of a device; subject: index into Analysis::partitions
  kCollectives,  ///< communication of a device, split into waiting and transfer; subject: DeviceId
  kStream,       ///< device ops; subject: StreamId
  kThread,       ///< ranges; subject: ThreadId
  kCalls,        ///< device API calls of a thread; subject: ThreadId
  kWaits,        ///< waits of a thread: blocking calls, waits for input; subject: ThreadId
  kReads,        ///< reads from storage of a process; subject: ProcessId
  kOverheads,    ///< overhead of CUDA and the profiler in a process; subject: ProcessId or none
  kCounters,     ///< heading
  kCounter,      ///< subject: index into TimelineModel::counters
  kPredicted,    ///< another row as predicted with a fix; subject: that row. See PredictedTimeline
};

/// A row of the timeline: a heading, a group of lanes, or a counter.
struct Row {
  RowKind kind = RowKind::kMachine;
  std::uint8_t depth = 0;  ///< depth in the tree
  RowId parent;
  std::uint32_t subject = 0;
  std::uint32_t descendants = 0;  ///< number of rows below it in the tree; they follow it
  std::string label;
  std::string detail;       ///< secondary text beside the label
  std::vector<Lane> lanes;  ///< what the rows of their entries mean: see TimelineModel::target_of
  bool starts_folded = false;
  RowId companion_of;  ///< the row directly above this one when shown; none: its place in the model

  bool is_heading() const { return lanes.empty() && kind != RowKind::kCounter; }
  bool can_fold() const { return descendants > 0 || lanes.size() > 1; }
  /// True if the row shows events of other rows in another way; its events are not counted.
  bool is_derived() const {
    return kind == RowKind::kPartition || kind == RowKind::kCollectives ||
           kind == RowKind::kWaits || kind == RowKind::kReads || kind == RowKind::kOverheads ||
           kind == RowKind::kPredicted;
  }
};

/// Something on the timeline that can be selected.
struct Target {
  enum class Kind : std::uint8_t { kNone, kEvent, kSegment, kStep, kOverhead, kPrediction };
  Kind kind = Kind::kNone;
  analyzer::EventRef event;     ///< kEvent
  std::uint32_t partition = 0;  ///< kSegment: index into Analysis::partitions
  /// kSegment: of the segment; kStep: into Steps::all; kOverhead: into Trace::overheads;
  /// kPrediction: into the tasks of TimelineModel::predicted
  std::uint32_t index = 0;

  static Target of(analyzer::EventRef event) {
    return {event.kind == analyzer::EventRef::Kind::kNone ? Kind::kNone : Kind::kEvent, event, 0,
            0};
  }
  static Target segment(std::uint32_t partition, std::uint32_t index) {
    return {Kind::kSegment, {}, partition, index};
  }
  static Target step(std::uint32_t index) { return {Kind::kStep, {}, 0, index}; }
  static Target overhead(std::uint32_t index) { return {Kind::kOverhead, {}, 0, index}; }
  static Target prediction(std::uint32_t index) { return {Kind::kPrediction, {}, 0, index}; }
  explicit operator bool() const { return kind != Kind::kNone; }
  bool operator==(const Target&) const = default;
};

/// Where a target is drawn. Without a row: in the ruler (steps).
struct Place {
  RowId row;
  std::uint32_t lane = 0;
  std::uint32_t entry = 0;
};

/// Everything the timeline draws, prepared once from a trace and its analysis, which must both
/// outlive it. Immutable: folding, zoom and scrolling belong to the view.
struct TimelineModel {
  const trace::Trace* trace = nullptr;
  const analyzer::Analysis* analysis = nullptr;
  Interval bounds;                    ///< from the first to the last event of the trace
  std::vector<Row> rows;              ///< depth first; companions after all others
  std::vector<CounterLane> counters;  ///< by row
  Lane steps;                         ///< rows: index into Analysis::steps.all
  StepLengths step_lengths;           ///< by index into Analysis::steps.all
  const analyzer::PredictedStep* predicted = nullptr;  ///< the data of kPredicted rows; null: none

  std::vector<RowId> row_of_thread;  ///< by ThreadId; none: the thread has no ranges
  std::vector<RowId> row_of_calls;   ///< by ThreadId
  std::vector<RowId> row_of_stream;  ///< by StreamId

  const Row& row(RowId id) const { return rows[id.value]; }
  /// Where an event or segment is drawn; none when the trace does not have it. If it is drawn more
  /// than once: the row that shows all events of its kind.
  std::optional<Place> find(const Target& target) const;
  /// The target of an entry of a row's lane. `trace_row` is an index into the table for the row's
  /// kind. In rows of waits it is a call or, with kRangeBit, a range.
  Target target_of(RowId row, std::uint32_t trace_row) const;
  static constexpr std::uint32_t kRangeBit = 0x80000000;
  /// The row of this kind that shows the subject (a thread, process or device) in another way.
  RowId derived_row(RowKind kind, std::uint32_t subject) const;
  /// The row whose first lane represents a folded heading: the time classes of its device or
  /// training thread, else its first thread. None when there is no such row.
  RowId strip_row(RowId heading) const;
  Interval interval_of(const Target& target) const;
};

/// `threads`: number of threads that may build lanes. `before`: a timeline of the same trace, or
/// null; lanes that look the same are shared with it.
TimelineModel build_timeline(const trace::Trace& trace, const analyzer::Analysis& analysis,
                             int threads, const TimelineModel* before = nullptr);

}  // namespace headway::gui
