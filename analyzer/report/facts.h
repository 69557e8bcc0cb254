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

/// "found", "fine", "cannot tell", "nothing to gain".
std::string_view status_words(Status status);
/// "input-bound (read)".
std::string finding_label(const Finding& finding);
/// "281 ms per step (70.2 %), at most 80.1 %"; of a ceiling "up to …"; "… exposed, not replayed".
std::string gain_label(const Analysis& analysis, const Finding& finding);
/// The share of the step that gain_label() shows first.
double gain_share(const Finding& finding);
/// "more workers: step 196 → 23.6 ms (−88.0 %, 95 % interval −78.2 to −97.7 %)".
std::string fix_line(const PredictedGain& gain);
/// Heads the lines of a plan.
inline constexpr std::string_view kPlanTitle =
    "Fixes together, same batch; each line includes those above it";
/// "cuda graph: step 2.10 ms (−95.0 %, 95 % interval −90.1 to −99.0 %)", for each fix of the plan; empty: none.
std::vector<std::string> plan_lines(const Analysis& analysis);
/// The best fix as `fix_line`, or "not replayed: …"; empty: no prediction was requested.
std::string prediction_label(const Finding& finding);
/// "predicted gains assume kernel gap 1.30 µs: default; this recording never shows it; 47.0 % of
/// the step has no recorded cause, and is in no predicted gain"; empty: nothing.
std::string prediction_note(const Analysis& analysis);
/// The other findings of the same time, for which `finding` stands.
std::vector<const Finding*> same_time(const Analysis& analysis, const Finding& finding);
/// "PyTorch: text [knob] (now x)" in one line, not escaped.
std::string advice_line(const Advice& advice);

/// The partition as people read it: without class ids, and without the device where there is one
/// only.
Table waterfall_table(const trace::Trace& trace, const Analysis& analysis);

/// "evaluation 12.0 ms, no range says what 800 µs": the time between steps by cause, per step; empty
/// when there is none.
std::string between_note(const DevicePartition& partition);

/// The median step of the first device, to draw; null when there is none.
const DeviceStep* typical_step(const Analysis& analysis);

}  // namespace headway::analyzer
