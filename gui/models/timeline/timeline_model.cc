// SPDX-License-Identifier: MIT
#include "gui/models/timeline/timeline_model.h"

#include "analyzer/replay/predicted_step.h"

namespace headway::gui {

using analyzer::EventRef;

namespace {

RowId at(const std::vector<RowId>& rows, std::uint32_t index) {
  return index < rows.size() ? rows[index] : RowId::none();
}

std::optional<Place> find_in(const TimelineModel& model, RowId row, TimeNs start,
                             std::uint32_t trace_row) {
  if (!row.valid()) return std::nullopt;
  const std::vector<Lane>& lanes = model.row(row).lanes;
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
    if (std::optional<std::uint32_t> entry = lanes[lane].find(start, trace_row))
      return Place{row, lane, *entry};
  }
  return std::nullopt;
}

std::optional<Place> find_event(const TimelineModel& model, EventRef event) {
  const trace::Trace& trace = *model.trace;
  switch (event.kind) {
    case EventRef::Kind::kRange:
      if (event.index >= trace.ranges.size()) return std::nullopt;
      return find_in(model, at(model.row_of_thread, trace.ranges.thread[event.index].value),
                     trace.ranges.start[event.index], event.index);
    case EventRef::Kind::kCall:
      if (event.index >= trace.calls.size()) return std::nullopt;
      return find_in(model, at(model.row_of_calls, trace.calls.thread[event.index].value),
                     trace.calls.start[event.index], event.index);
    case EventRef::Kind::kDeviceOp:
      if (event.index >= trace.device_ops.size()) return std::nullopt;
      return find_in(model, at(model.row_of_stream, trace.device_ops.stream[event.index].value),
                     trace.device_ops.start[event.index], event.index);
    case EventRef::Kind::kNone:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Place> TimelineModel::find(const Target& target) const {
  switch (target.kind) {
    case Target::Kind::kEvent:
      return find_event(*this, target.event);
    case Target::Kind::kSegment:
      for (std::uint32_t i = 0; i < rows.size(); ++i) {
        if (rows[i].kind != RowKind::kPartition || rows[i].subject != target.partition) continue;
        return find_in(*this, RowId{i}, interval_of(target).begin, target.index);
      }
      return std::nullopt;
    case Target::Kind::kStep:
      if (std::optional<std::uint32_t> entry = steps.find(interval_of(target).begin, target.index))
        return Place{RowId::none(), 0, *entry};
      return std::nullopt;
    case Target::Kind::kOverhead:
      for (std::uint32_t i = 0; i < rows.size(); ++i) {
        if (rows[i].kind != RowKind::kOverheads) continue;
        if (auto place = find_in(*this, RowId{i}, interval_of(target).begin, target.index))
          return place;
      }
      return std::nullopt;
    case Target::Kind::kPrediction:
      for (std::size_t i = rows.size(); i-- > 0 && rows[i].kind == RowKind::kPredicted;) {
        if (auto place = find_in(*this, RowId::from(i), interval_of(target).begin, target.index))
          return place;
      }
      return std::nullopt;
    case Target::Kind::kNone:
      break;
  }
  return std::nullopt;
}

RowId TimelineModel::derived_row(RowKind kind, std::uint32_t subject) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].kind == kind && rows[i].subject == subject) return RowId::from(i);
  }
  return {};
}

RowId TimelineModel::strip_row(RowId heading) const {
  RowId thread;
  const std::size_t end =
      std::min(rows.size(), heading.value + row(heading).descendants + std::size_t{1});
  for (std::size_t i = heading.value + 1; i < end; ++i) {
    if (rows[i].lanes.empty()) continue;
    if (rows[i].kind == RowKind::kPartition) return RowId::from(i);
    if (rows[i].kind == RowKind::kThread && !thread.valid()) thread = RowId::from(i);
  }
  return thread;
}

Target TimelineModel::target_of(RowId id, std::uint32_t trace_row) const {
  switch (row(id).kind) {
    case RowKind::kPartition:
      return Target::segment(row(id).subject, trace_row);
    case RowKind::kStream:
    case RowKind::kCollectives:
      return Target::of(EventRef::of(trace::DeviceOpId{trace_row}));
    case RowKind::kWaits:
      if (trace_row & kRangeBit)
        return Target::of(EventRef::of(trace::RangeId{trace_row & ~kRangeBit}));
      return Target::of(EventRef::of(trace::CallId{trace_row}));
    case RowKind::kOverheads:
      return Target::overhead(trace_row);
    case RowKind::kThread:
    case RowKind::kReads:
      return Target::of(EventRef::of(trace::RangeId{trace_row}));
    case RowKind::kCalls:
      return Target::of(EventRef::of(trace::CallId{trace_row}));
    case RowKind::kPredicted:
      return Target::prediction(trace_row);
    default:
      return {};
  }
}

Interval TimelineModel::interval_of(const Target& target) const {
  switch (target.kind) {
    case Target::Kind::kEvent:
      return analyzer::interval_of(*trace, target.event);
    case Target::Kind::kSegment:
      return analysis->partitions[target.partition].segments[target.index].interval;
    case Target::Kind::kStep:
      return analysis->steps.all[target.index].host;
    case Target::Kind::kOverhead:
      return trace->overheads[target.index].interval;
    case Target::Kind::kPrediction:
      // Events that reach beyond the predicted step are cut there: nothing is predicted beyond it.
      if (!predicted) return {};
      return intersect(predicted->tasks[target.index].predicted, predicted->predicted_interval());
    case Target::Kind::kNone:
      break;
  }
  return {};
}

}  // namespace headway::gui
