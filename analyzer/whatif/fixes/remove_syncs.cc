// SPDX-License-Identifier: MIT
// Synchronisations of streams and devices are removed, and so are waits for an event that is the
// last thing the thread has enqueued. A wait for an event with work after it stays: it keeps the
// host from running ahead too far, and the device continues to work. Copies for which the host
// waits stay, because it needs their data (see deferred-read).
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Largest number of calls searched between the record of an event and a wait that drains the
/// device; more than any program makes.
constexpr int kNear = 64;

/// True if the device has no more work of this thread when the event is reached.
bool drains(const Trace& trace, CallId wait) {
  const Calls& calls = trace.calls;
  auto row = trace.calls_of_thread[calls.thread[wait.value]];
  auto at = std::lower_bound(row.begin(), row.end(), wait);
  for (int i = 0; i < kNear && at != row.begin(); ++i) {
    --at;
    if (calls.op[at->value].valid()) return false;
    if (calls.kind[at->value] == DeviceCallKind::kEventRecord &&
        (calls.sync_id[wait.value] == 0 || calls.sync_id[at->value] == calls.sync_id[wait.value]))
      return true;
  }
  return false;
}

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const Points& points = predictor.program().graph().points();
  Editor editor(predictor);
  std::int64_t calls = 0;
  std::int64_t events = 0;
  for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
    if (!only_waits(trace.calls.kind[c])) continue;
    const bool event = trace.calls.kind[c] == DeviceCallKind::kEventSynchronize;
    if (event && !drains(trace, CallId{c})) continue;
    const TaskId task = points.task(CallId{c});
    editor.remove_edges(end_of(task), EdgeKind::kHostSync);
    if (!event) editor.set_duration(task, {0});
    ++calls;
    events += event;
  }
  if (calls == 0) return not_here("no call waits for the device");
  Proposal proposal{true, fmt::format("{} calls no longer wait for the device", calls),
                    editor.take()};
  // The reference trainer waits for the previous step if it may run ahead only one step.
  if (events > 0 && trace.setting("run_ahead") == "1")
    proposal.setting = events == calls ? "--run-ahead 2" : "--sync never --run-ahead 2";
  return proposal;
}

}  // namespace

const Fix kRemoveSyncs{"remove-syncs",
                       "Do not wait for the device",
                       "host-sync",
                       FixKind::kStructural,
                       0.02,
                       "--sync never",
                       "Stream and device synchronisations disappear, as do waits for events "
                       "followed by no other work. The launch queue and everything else stay.",
                       "whether the program needs a result there",
                       propose};

}  // namespace headway::analyzer
