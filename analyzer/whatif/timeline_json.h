// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "analyzer/replay/predicted_step.h"

namespace headway::analyzer {

/// What a timeline is about.
struct TimelineTitle {
  std::string_view id;    ///< "remove-syncs", or the arguments of --scale
  std::string_view text;  ///< "Do not wait for the device"
};

/// A step as recorded and as predicted, as trace events for Perfetto and chrome://tracing. The two
/// steps are two processes with the same rows (streams, ranges and calls of threads); both begin at
/// 0. `args` of each event has its class, its op of the model and its change; `otherData` has the
/// gain in ns. Events that a fix removes are only in the recorded process.
std::string timeline_json(const Predictor& predictor, const PredictedStep& step,
                          const TimelineTitle& title);

}  // namespace headway::analyzer
