// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/steps/steps.h"

/// Steps in which CUDA was not recorded, so that their length tells what a step takes without recording
/// (`headway record --measure-cost`). The rest of the analysis does not see them.
namespace headway::analyzer {

/// Numbers of steps, both included.
struct StepSpan {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// The setting "unrecorded_steps" of the program: "24-31 56-63". Any other text counts as no span.
std::vector<StepSpan> unrecorded_spans(const trace::Trace& trace);

/// Removes the steps of the spans from `steps` (of one thread, by start), and the step before each span, whose last device
/// work may be missing. Returns their length as a share of the recorded steps before and after them; none where the two do
/// not differ by more than steps scatter, or no span has enough of both.
std::optional<double> take_out_unrecorded(std::vector<Step>& steps,
                                          const std::vector<StepSpan>& spans);

}  // namespace headway::analyzer
