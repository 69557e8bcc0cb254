// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// A finding as a line of the list. The index of a line is that in Analysis::findings.
struct FindingLine {
  analyzer::Status status = analyzer::Status::kCannotTell;
  std::string_view status_words;  ///< "Found", "Fine", "Cannot tell"
  std::string title;              ///< "Input-bound · decode"; for a job "… · rank 2"
  std::string gain;               ///< "up to 42.0 ms a step · 31.0 %"; empty unless found
  std::string confidence;         ///< "high confidence (90 %)"; empty unless found
  double share = 0;               ///< `gain` as a share of the step, for a bar; at most 1
};
std::vector<FindingLine> finding_lines(const analyzer::Analysis& analysis);
std::string_view words_of(analyzer::Status status);

/// Where evidence leads: the target to select and the time range to show around it.
struct EvidencePlace {
  Target target;
  Interval view;
};
EvidencePlace place_of(const TimelineModel& model, const analyzer::Evidence& evidence);

/// What the evidence shows there; for a job with the rank.
std::string evidence_note(const trace::Trace& trace, const analyzer::Analysis& analysis,
                          const analyzer::Finding& finding, const analyzer::Evidence& evidence);

/// The time range that shows `focus` with its surroundings: three times as long, within the trace.
Interval with_context(Interval focus, Interval bounds);

}  // namespace headway::gui
