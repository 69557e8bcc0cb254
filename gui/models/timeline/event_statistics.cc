// SPDX-License-Identifier: MIT
#include "gui/models/timeline/event_statistics.h"

#include <algorithm>
#include <unordered_map>

#include "common/interval_set.h"

namespace headway::gui {

using analyzer::EventRef;
using trace::DeviceOpId;
using trace::RangeId;

namespace {

template <class Table>
NameStatistics statistics(const Table& table, std::uint32_t index) {
  NameStatistics result;
  std::vector<std::int64_t> durations;
  const trace::StringId name = table.name[index];
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table.name[i] != name) continue;
    durations.push_back((table.end[i] - table.start[i]).ns);
    result.total += DurationNs{durations.back()};
  }
  result.count = static_cast<std::int64_t>(durations.size());
  auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
  std::nth_element(durations.begin(), middle, durations.end());
  result.median = {*middle};
  return result;
}

}  // namespace

NameStatistics statistics_of_name(const trace::Trace& trace, EventRef event) {
  switch (event.kind) {
    case EventRef::Kind::kRange:
      return statistics(trace.ranges, event.index);
    case EventRef::Kind::kDeviceOp:
      return statistics(trace.device_ops, event.index);
    case EventRef::Kind::kCall:
      return statistics(trace.calls, event.index);
    case EventRef::Kind::kNone:
      break;
  }
  return {};
}

std::vector<NameTotal> longest_names(const trace::Trace& trace, Interval window, std::size_t most) {
  const trace::DeviceOps& ops = trace.device_ops;
  std::unordered_map<trace::StringId, NameTotal> totals;
  auto last = std::lower_bound(ops.start.begin(), ops.start.end(), window.end);
  for (std::size_t i = 0; i < static_cast<std::size_t>(last - ops.start.begin()); ++i) {
    DeviceOpId id = DeviceOpId::from(i);
    DurationNs inside = intersect(ops.interval(id), window).length();
    if (inside.ns <= 0) continue;
    NameTotal& total =
        totals.try_emplace(ops.name[i], NameTotal{ops.name[i], {}, 0, id}).first->second;
    total.total += inside;
    ++total.count;
    if (ops.interval(id).length() > ops.interval(total.longest).length()) total.longest = id;
  }
  std::vector<NameTotal> result;
  for (const auto& [name, total] : totals) result.push_back(total);
  std::sort(result.begin(), result.end(), [](const NameTotal& a, const NameTotal& b) {
    return a.total != b.total ? a.total > b.total : a.name < b.name;
  });
  if (result.size() > most) result.resize(most);
  return result;
}

DurationNs own_time(const trace::Trace& trace, RangeId range) {
  const trace::Ranges& ranges = trace.ranges;
  Interval when = ranges.interval(range);
  auto inside = trace.ranges_of_thread[ranges.thread[range.value]];
  IntervalSet children;
  for (auto r = std::upper_bound(inside.begin(), inside.end(), range);
       r != inside.end() && ranges.start[r->value] < when.end; ++r) {
    if (ranges.parent[r->value] == range) children.append(ranges.interval(*r));
  }
  return when.length() - children.total();
}

}  // namespace headway::gui
