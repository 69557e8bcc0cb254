// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/stats/table.h"

namespace headway::analyzer {

/// "What was recorded": label and value, in order. Not escaped.
std::vector<std::pair<std::string, std::string>> report_facts(const trace::Trace& trace,
                                                              const Analysis& analysis);

/// The trace's path; for a job the folder of its files, or how many files there are.
std::string report_title(const trace::Trace& trace, const Analysis& analysis);

/// "input-bound (read)".
std::string finding_label(const Finding& finding);
/// "up to 281 ms per step (70.2 %)".
std::string gain_label(const Analysis& analysis, const Finding& finding);
/// "with remove-syncs a step of 448 µs is predicted, 72.2 % less (64.1 to 80.2 %)"; empty: nothing is.
std::string prediction_label(const Finding& finding);
/// "predicted gains assume kernel gap 1.30 µs: default; this recording never shows it; 47.0 % of the step has no recorded cause, and is
/// in no predicted gain"; empty: nothing.
std::string prediction_note(const Analysis& analysis);
/// "PyTorch: text [knob] (now x)" in one line, not escaped.
std::string advice_line(const Advice& advice);

/// The partition as people read it: without class ids, and without the device where there is one only.
Table waterfall_table(const trace::Trace& trace, const Analysis& analysis);

/// "evaluation 12.0 ms, no range says what 800 µs": the time between steps by cause, per step; empty
/// when there is none.
std::string between_note(const DevicePartition& partition);

/// The median step of the first device, to draw; null when there is none.
const DeviceStep* typical_step(const Analysis& analysis);

}  // namespace headway::analyzer
