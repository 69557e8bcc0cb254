// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "gui/models/flames/flame_graph.h"
#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// Threads of the host that do anything in a stretch of time, in the trace's order, at most kMost.
struct StackThreads {
  static constexpr std::size_t kMost = 200;
  std::vector<trace::ThreadId> threads;
  /// The one to show first: that of the target; of a stretch of device time the training thread behind it; else the
  /// first training thread. None when no thread does anything.
  trace::ThreadId first;
};
StackThreads stack_threads(const TimelineModel& model, Interval when, const Target& about);

/// What a thread did in a stretch of time: its nested ranges (of Python, the framework, NVTX) with the calls to the
/// device inside them, each cut to the stretch and to what is around it. Stacks that read alike are one; numbers that
/// count are left out of names, but not those of source lines. The root is the stretch; its own time is what no range
/// covers. Own times sum to the stretch exactly, whatever the trace says. Gives up when `*cancelled` becomes true.
FlameGraph make_call_stacks(const TimelineModel& model, trace::ThreadId thread, Interval when,
                            const std::atomic<bool>* cancelled = nullptr);

/// "Most own time: conv 12.3 ms (40.0 %), relu 1.2 ms (4.0 %)": names, wherever they stand, at most three.
std::string most_own_time(const FlameGraph& stacks);

}  // namespace headway::gui
