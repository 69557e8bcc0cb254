// SPDX-License-Identifier: MIT
// The host waits for the end of an earlier step before it launches the next one. It may now be
// twice as many steps ahead.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/counted.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// The step of a call, as an index among the steps of its thread. Calls after a step belong to it.
class StepOfCall {
 public:
  StepOfCall(const Trace& trace, const Steps& steps) : calls_(trace.calls), steps_(steps) {
    for (std::size_t i = 0; i < steps.all.size(); ++i) order_.push_back(i);
    std::ranges::sort(order_, {}, [&](std::size_t i) { return key(i); });
  }

  /// Nothing for calls before the thread's first step.
  std::optional<std::size_t> of(CallId call) const {
    const auto after = std::ranges::upper_bound(
        order_, std::pair(calls_.thread[call.value], calls_.start[call.value]), {},
        [&](std::size_t i) { return key(i); });
    if (after == order_.begin()) return std::nullopt;
    if (steps_.all[*(after - 1)].thread != calls_.thread[call.value]) return std::nullopt;
    return static_cast<std::size_t>(after - 1 - order_.begin());
  }

 private:
  std::pair<ThreadId, TimeNs> key(std::size_t step) const {
    return {steps_.all[step].thread, steps_.all[step].host.begin};
  }

  const Calls& calls_;
  const Steps& steps_;
  std::vector<std::size_t> order_;
};

DurationNs typical_step(const Steps& steps) {
  const std::vector<double> durations = steps.steady_durations_ns();
  return durations.empty() ? DurationNs{}
                           : DurationNs{std::llround(durations[durations.size() / 2])};
}

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const Calls& calls = trace.calls;
  const Points& points = predictor.program().graph().points();
  const StepOfCall step(trace, predictor.analysis().steps);
  std::map<std::pair<ThreadId, std::uint64_t>, CallId> recorded;  // ranks use equal event numbers
  const DurationNs typical = typical_step(predictor.analysis().steps);
  const Program& program = predictor.program();
  Editor editor(predictor);
  std::int64_t waits = 0;
  std::size_t ahead = 0;
  for (std::uint32_t c = 0; c < calls.size(); ++c) {
    if (calls.sync_id[c] == 0) continue;
    const std::pair event(calls.thread[c], calls.sync_id[c]);
    if (calls.kind[c] == DeviceCallKind::kEventRecord) recorded[event] = CallId{c};
    if (calls.kind[c] != DeviceCallKind::kEventSynchronize) continue;
    const auto record = recorded.find(event);
    if (record == recorded.end()) continue;
    const auto then = step.of(record->second);
    const auto now = step.of(CallId{c});
    if (!then || !now || *then >= *now) continue;
    // The wait for an earlier step ends earlier by the typical length of the steps in between.
    const auto earlier = typical * static_cast<std::int64_t>(*now - *then);
    program.for_each(program.slot_of(end_of(points.task(CallId{c}))), [&](const Constraint& wait) {
      if (wait.kind == EdgeKind::kHostSync) editor.set_earlier(wait.id, wait.lag - earlier);
    });
    ahead = std::max(ahead, *now - *then);
    ++waits;
  }
  if (waits == 0) return not_here("no call waits for an event of an earlier step");
  return {true,
          fmt::format("{} waits for an earlier step's end move {} earlier", waits,
                      counted(static_cast<std::int64_t>(ahead), "step", "steps")),
          editor.take()};
}

}  // namespace

const Fix kRunAhead{"run-ahead",
                    "Let the host run further ahead",
                    "host-sync",
                    FixKind::kStructural,
                    0.1,
                    "--run-ahead",
                    "A wait of the host for the end of the step N steps back becomes one for "
                    "the step 2N back, and ends N typical steps earlier. The launch queue "
                    "keeps its depth.",
                    "whether the wait protects memory that the host overwrites",
                    propose};

}  // namespace headway::analyzer
