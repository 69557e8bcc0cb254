// SPDX-License-Identifier: MIT
#include "gui/models/opening/row_identity.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace headway::gui {
namespace {

/// Identifies a row by the recorded machine, because ids in memory may change as a file grows.
using Key = std::tuple<RowKind, std::int64_t, std::int64_t, std::int64_t, std::string>;

std::int64_t pid_of(const trace::Trace& trace, trace::ProcessId process) {
  return process.valid() ? trace.processes[process.value].global_pid : -1;
}

Key key_of(const TimelineModel& model, const Row& row) {
  const trace::Trace& trace = *model.trace;
  auto of_device = [&](trace::DeviceId id) {
    const trace::Device& device = trace.devices[id.value];
    std::int64_t owner = device.type == trace::DeviceType::kCuda && trace.processes.size() == 1
                             ? -1
                             : pid_of(trace, device.process);
    return std::pair(owner, std::int64_t{device.ordinal});
  };
  switch (row.kind) {
    case RowKind::kProcess:
      return {row.kind, pid_of(trace, trace::ProcessId{row.subject}), 0, 0, ""};
    case RowKind::kDevice: {
      auto [owner, ordinal] = of_device(trace::DeviceId{row.subject});
      return {row.kind, owner, ordinal, 0, ""};
    }
    case RowKind::kPartition: {
      const analyzer::DevicePartition& partition = model.analysis->partitions[row.subject];
      if (!partition.device.valid()) {  // of a training thread
        const trace::Thread& thread = trace.threads[partition.thread.value];
        return {row.kind, pid_of(trace, thread.process), thread.tid, 0, ""};
      }
      auto [owner, ordinal] = of_device(partition.device);
      return {row.kind, owner, ordinal, 0, ""};
    }
    case RowKind::kStream: {
      const trace::Stream& stream = trace.streams[row.subject];
      auto [owner, ordinal] = of_device(stream.device);
      return {row.kind, pid_of(trace, stream.process), ordinal, stream.ordinal, ""};
    }
    case RowKind::kThread:
    case RowKind::kCalls:
      return {row.kind, trace.threads[row.subject].global_tid, 0, 0, ""};
    case RowKind::kCounter: {
      const trace::CounterSeries& series = model.counters[row.subject].series();
      return {row.kind, pid_of(trace, series.process), series.device.value_or(-1), 0, series.name};
    }
    default:
      return {row.kind, 0, 0, 0, row.label};
  }
}

/// Headings without a subject are distinguished by their parent, rows with equal keys by order.
using RowsByKey = std::map<std::pair<Key, RowId>, std::vector<RowId>>;

RowsByKey rows_by_key(const TimelineModel& model) {
  RowsByKey rows;
  for (std::size_t i = 0; i < model.rows.size(); ++i)
    rows[{key_of(model, model.rows[i]), model.rows[i].parent}].push_back(RowId::from(i));
  return rows;
}

template <class Table>
std::uint32_t find_event(const trace::Trace& before, const Table& old, std::uint32_t index,
                         const trace::Trace& now, const Table& table) {
  auto first = std::lower_bound(table.start.begin(), table.start.end(), old.start[index]);
  std::string_view name = before.strings[old.name[index]];
  for (auto at = first; at != table.start.end() && *at == old.start[index]; ++at) {
    auto i = static_cast<std::size_t>(at - table.start.begin());
    if (now.strings[table.name[i]] == name) return static_cast<std::uint32_t>(i);
  }
  return UINT32_MAX;
}

}  // namespace

std::vector<RowId> match_rows(const TimelineModel& from, const TimelineModel& to) {
  std::vector<RowId> matches(to.rows.size());
  if (!from.trace) return matches;
  RowsByKey old = rows_by_key(from);
  std::map<std::pair<Key, RowId>, std::size_t> used;
  for (std::size_t i = 0; i < to.rows.size(); ++i) {
    const Row& row = to.rows[i];
    // Parents come before their children, so they are matched already.
    RowId parent = row.parent.valid() ? matches[row.parent.value] : RowId::none();
    if (row.parent.valid() && !parent.valid()) continue;
    std::pair key(key_of(to, row), parent);
    auto found = old.find(key);
    if (found == old.end()) continue;
    std::size_t& next = used[key];
    if (next < found->second.size()) matches[i] = found->second[next++];
  }
  return matches;
}

Target find_again(const Session& from, const Target& target, const Session& to) {
  using Kind = analyzer::EventRef::Kind;
  if (target.kind == Target::Kind::kSegment || target.kind == Target::Kind::kStep) {
    bool same = from.analysed && to.analysed && &from.trace == &to.trace;
    return same ? target : Target{};
  }
  if (target.kind == Target::Kind::kPrediction) return {};
  if (target.kind != Target::Kind::kEvent || &from.trace == &to.trace) return target;
  analyzer::EventRef event = target.event;
  switch (event.kind) {
    case Kind::kRange:
      event.index =
          find_event(from.trace, from.trace.ranges, event.index, to.trace, to.trace.ranges);
      break;
    case Kind::kCall:
      event.index = find_event(from.trace, from.trace.calls, event.index, to.trace, to.trace.calls);
      break;
    case Kind::kDeviceOp:
      event.index =
          find_event(from.trace, from.trace.device_ops, event.index, to.trace, to.trace.device_ops);
      break;
    case Kind::kNone:
      return {};
  }
  return event.index == UINT32_MAX ? Target{} : Target::of(event);
}

}  // namespace headway::gui
