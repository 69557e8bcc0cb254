// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "gui/models/flames/flame_graph.h"
#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// Host threads with any activity in a time range, in the trace's order, at most kMost.
struct StackThreads {
  static constexpr std::size_t kMost = 200;
  std::vector<trace::ThreadId> threads;
  /// The thread to show first: that of the target; for device time the training thread behind it;
  /// else the first training thread. None when no thread has activity.
  trace::ThreadId first;
};
StackThreads stack_threads(const TimelineModel& model, Interval when, const Target& about);

/// What a thread did in a time range: its nested ranges (of Python, the framework, NVTX) with the
/// device calls inside them, each cut to the time range and to its parent. Stacks with equal names
/// are merged; counting numbers are left out of names, but not the numbers of source lines. The
/// root is the time range; its own time is covered by no range. Own times always sum to the time
/// range exactly, even for inconsistent traces. Returns early when `*cancelled` becomes true.
FlameGraph make_call_stacks(const TimelineModel& model, trace::ThreadId thread, Interval when,
                            const std::atomic<bool>* cancelled = nullptr);

/// "Most own time: conv 12.3 ms (40.0 %), relu 1.2 ms (4.0 %)": at most three names, each summed
/// over all stacks.
std::string most_own_time(const FlameGraph& stacks);

}  // namespace headway::gui
