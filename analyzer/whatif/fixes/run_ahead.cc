// SPDX-License-Identifier: MIT
// The host waits for an earlier step's end before it launches the next one: it may be one more step ahead.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Which step of its thread a call belongs to, with what comes after it.
class StepOfCall {
 public:
  StepOfCall(const Trace& trace, const Steps& steps) : calls_(trace.calls), steps_(steps) {
    for (std::size_t i = 0; i < steps.all.size(); ++i) order_.push_back(i);
    std::ranges::sort(order_, {}, [&](std::size_t i) { return key(i); });
  }

  /// Nothing before the thread's first step.
  std::optional<std::size_t> of(CallId call) const {
    const auto after = std::ranges::upper_bound(
        order_, std::pair(calls_.thread[call.value], calls_.start[call.value]), {},
        [&](std::size_t i) { return key(i); });
    if (after == order_.begin()) return std::nullopt;
    const std::size_t step = *(after - 1);
    if (steps_.all[step].thread != calls_.thread[call.value]) return std::nullopt;
    return step;
  }

 private:
  std::pair<ThreadId, TimeNs> key(std::size_t step) const {
    return {steps_.all[step].thread, steps_.all[step].host.begin};
  }

  const Calls& calls_;
  const Steps& steps_;
  std::vector<std::size_t> order_;
};

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const Calls& calls = trace.calls;
  const Points& points = predictor.program().graph().points();
  const StepOfCall step(trace, predictor.analysis().steps);
  std::map<std::pair<ThreadId, std::uint64_t>, CallId> recorded;  // ranks number their events alike
  Editor editor(predictor);
  std::int64_t waits = 0;
  for (std::uint32_t c = 0; c < calls.size(); ++c) {
    if (calls.sync_id[c] == 0) continue;
    const std::pair event(calls.thread[c], calls.sync_id[c]);
    if (calls.kind[c] == DeviceCallKind::kEventRecord) recorded[event] = CallId{c};
    if (calls.kind[c] != DeviceCallKind::kEventSynchronize) continue;
    const auto record = recorded.find(event);
    if (record == recorded.end()) continue;
    const auto then = step.of(record->second);
    if (!then || then == step.of(CallId{c})) continue;
    editor.remove_edges(end_of(points.task(CallId{c})), EdgeKind::kHostSync);
    ++waits;
  }
  if (waits == 0) return not_here("no call waits for an event of an earlier step");
  return {true, fmt::format("{} waits for an earlier step's end are not made", waits),
          editor.take()};
}

}  // namespace

const Fix kRunAhead{
    "run-ahead",
    "Let the host run further ahead",
    "host-sync",
    FixKind::kStructural,
    0.1,
    "--run-ahead",
    "The host does not wait for an event that an earlier step recorded; the launch queue stays.",
    "whether the wait guards memory that the host writes anew",
    propose};

}  // namespace headway::analyzer
