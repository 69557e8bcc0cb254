// SPDX-License-Identifier: MIT
#include "analyzer/replay/unexplained.h"

#include <algorithm>
#include <map>

namespace headway::analyzer {
namespace {

using namespace trace;

StringId name_of_slot(const Program& program, Slot slot) {
  const Points& points = program.graph().points();
  PointId point = program.point_of(slot);
  if (!point.valid()) return {};
  const TaskId task = task_of(point);
  const Trace& trace = points.trace();
  if (CallId call = points.call_of(task); call.valid()) return trace.calls.name[call.value];
  if (DeviceOpId op = points.op_of(task); op.valid()) return trace.device_ops.name[op.value];
  if (RangeId range = points.range_of(task); range.valid()) return trace.ranges.name[range.value];
  return {};
}

}  // namespace

std::vector<Unexplained> find_unexplained(const Program& program, Slot first, Slot last) {
  std::map<std::pair<EdgeKind, std::uint32_t>, DurationNs> late;
  const TimeNs begin = program.recorded(first);
  for (Slot at = last; program.recorded(at) > begin;) {
    Constraint binding;
    TimeNs arrival = TimeNs::min();
    program.for_each(at, [&](const Constraint& constraint) {
      TimeNs one = program.recorded(constraint.from) + constraint.lag;
      if (binding.from.valid() && one <= arrival) return;
      binding = constraint;
      arrival = one;
    });
    if (!binding.from.valid()) break;
    DurationNs beyond = program.recorded(at) - std::max(arrival, begin);
    if (beyond.ns > 0) late[{binding.kind, name_of_slot(program, at).value}] += beyond;
    at = binding.from;
  }
  std::vector<Unexplained> result;
  for (const auto& [what, time] : late) result.push_back({what.first, StringId{what.second}, time});
  std::stable_sort(result.begin(), result.end(),
                   [](const Unexplained& a, const Unexplained& b) { return a.time > b.time; });
  return result;
}

}  // namespace headway::analyzer
