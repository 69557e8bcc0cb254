// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/model/event_ref.h"

namespace headway::analyzer {

class Predictor;
struct Scenario;

/// What becomes of a task under a scenario.
enum class Fate : std::uint8_t {
  kStays,
  kJoined,  ///< an op that is no longer launched separately: part of another op or of a graph
  kGone,    ///< takes no time any more: a call that is not made, an op that is not run
};

/// A recorded event and when it would have come.
struct PredictedTask {
  EventRef event;
  Interval recorded;
  /// Moved so that the predicted step begins when the recorded one did; empty for what is gone.
  Interval predicted;
  Fate fate = Fate::kStays;
  /// A range that is not a task: its ends are placed between those of its thread's calls.
  bool interpolated = false;
};

/// The timeline of one step under a scenario, beside what was recorded.
struct PredictedStep {
  std::uint32_t step = 0;  ///< index into Steps::all
  Interval recorded;       ///< of the device or training thread that predictions are about
  DurationNs replayed;     ///< the step replayed without any change; gain() is relative to it
  DurationNs predicted;
  /// What `tasks` take: less than `predicted` when a resource that the graph does not have (a link,
  /// a copy engine) needs longer.
  DurationNs replayed_tasks;
  /// What runs in the recorded or in the predicted step: device ops of the step's device, calls and
  /// ranges of the threads that launch them, batches and waits for input. By predicted begin.
  std::vector<PredictedTask> tasks;
  std::vector<trace::ThreadId>
      threads;  ///< whose calls and ranges are in `tasks`, the first trains

  DurationNs gain() const { return replayed - predicted; }
  Interval predicted_interval() const { return {recorded.begin, recorded.begin + predicted}; }
};

/// The timeline of a step (index into `Predictor::steps().steps`). Without an index, that of the most
/// typical step: of the half of the steps that are closest to the median in length, the one whose gain is
/// closest to the mean. Needs a predictor whose missing() is empty. Costs one replay; besides, only events
/// in the step, batches and waits for input are read.
PredictedStep predict_timeline(const Predictor& predictor, const Scenario& scenario,
                               std::optional<std::size_t> step = std::nullopt);

}  // namespace headway::analyzer
