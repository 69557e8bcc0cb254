// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// A finding in the words of the list; indexes are those of Analysis::findings.
struct FindingLine {
  analyzer::Status status = analyzer::Status::kCannotTell;
  std::string_view status_words;  ///< "Found", "Fine", "Cannot tell"
  std::string title;              ///< "Input-bound · decode", of a job "… · rank 2"
  std::string gain;               ///< "up to 42.0 ms a step · 31.0 %"; empty unless found
  std::string confidence;         ///< "high confidence (90 %)"; empty unless found
  double share = 0;               ///< of the step, as `gain` tells it, for a bar; at most 1
};
std::vector<FindingLine> finding_lines(const analyzer::Analysis& analysis);
std::string_view words_of(analyzer::Status status);

/// Where an evidence leads: what to select, and the view that shows it with its surroundings.
struct EvidencePlace {
  Target target;
  Interval view;
};
EvidencePlace place_of(const TimelineModel& model, const analyzer::Evidence& evidence);

/// What is to be seen there; of a job with the rank on which it is.
std::string evidence_note(const trace::Trace& trace, const analyzer::Analysis& analysis,
                          const analyzer::Finding& finding, const analyzer::Evidence& evidence);

/// The stretch to show so that `focus` is seen with its surroundings: three times as long, inside
/// the trace.
Interval with_context(Interval focus, Interval bounds);

}  // namespace headway::gui
