// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "analyzer/replay/predicted_step.h"

namespace headway::analyzer {

/// What a timeline is about.
struct TimelineTitle {
  std::string_view id;    ///< "remove-syncs", or the questions of --scale
  std::string_view text;  ///< "Do not wait for the device"
};

/// A step as recorded and as predicted, as trace events that Perfetto and chrome://tracing open: two processes with the same
/// rows (streams, ranges and calls of threads), both steps beginning at 0. Each event has its class, the op of the model
/// and what becomes of it in `args`; the gain stands in `otherData`, in ns. What a fix takes away is in the recorded
/// process alone.
std::string timeline_json(const Predictor& predictor, const PredictedStep& step,
                          const TimelineTitle& title);

}  // namespace headway::analyzer
