// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/replay/program.h"

namespace headway::analyzer {

/// Calls `visit(thread, slot)` for every slot of a host thread: its points, and before each the cuts that lead to it.
template <class Visit>
void for_each_host_slot(const Program& program, Visit visit) {
  const Points& points = program.graph().points();
  // Cuts stand before the point that they lead to, which tells the thread.
  std::vector<Slot> cuts;
  for (std::uint32_t s = 0; s < program.size(); ++s) {
    cuts.push_back(Slot{s});
    const PointId point = program.point_of(Slot{s});
    if (!point.valid()) continue;
    const TaskId task = task_of(point);
    const trace::ThreadId thread =
        points.op_of(task).valid() ? trace::ThreadId::none() : points.thread_of(task);
    for (Slot slot : cuts)
      if (thread.valid()) visit(thread, slot);
    cuts.clear();
  }
}

/// Calls `visit(thread, recorded, constraint)` for all own time of threads: that of their calls, and what lies between
/// calls. `recorded` is its interval in the recording, which includes any waiting in a call.
template <class Visit>
void for_each_host_time(const Program& program, Visit visit) {
  for_each_host_slot(program, [&](trace::ThreadId thread, Slot slot) {
    program.for_each(slot, [&](const Constraint& constraint) {
      if (constraint.kind == EdgeKind::kDuration || constraint.kind == EdgeKind::kThreadOrder)
        visit(thread, Interval{program.recorded(constraint.from), program.recorded(slot)},
              constraint);
    });
  });
}

}  // namespace headway::analyzer
