// SPDX-License-Identifier: MIT
#include "gui/models/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/report/facts.h"
#include "common/format.h"
#include "gui/models/display_text.h"

namespace headway::gui {

std::string_view words_of(analyzer::Status status) {
  switch (status) {
    case analyzer::Status::kFound:
      return "Found";
    case analyzer::Status::kFine:
      return "Fine";
    case analyzer::Status::kNoGain:
      return "Nothing to gain";
    case analyzer::Status::kCannotTell:
      break;
  }
  return "Cannot tell";
}

std::vector<FindingLine> finding_lines(const analyzer::Analysis& analysis) {
  std::vector<FindingLine> lines;
  for (const analyzer::Finding& finding : analysis.findings) {
    FindingLine line;
    line.status = finding.status;
    line.status_words = words_of(finding.status);
    line.title = finding.title;
    if (!finding.sub_cause.empty()) line.title += " · " + display_text(finding.sub_cause, 60);
    if (finding.status == analyzer::Status::kFound) {
      line.gain = analyzer::gain_label(analysis, finding);
      line.confidence = analyzer::confidence_label(finding);
      const double share = finding.predicted ? finding.predicted->share : finding.share_of_step;
      line.share = std::clamp(share, 0.0, 1.0);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

Interval with_context(Interval focus, Interval bounds) {
  std::int64_t length = std::max<std::int64_t>(focus.length().ns, 100);
  Interval view{{focus.begin.ns - length}, {focus.begin.ns + 2 * length}};
  // A focus longer than the trace's own bounds allow is shown as it is.
  Interval inside = intersect(view, bounds);
  return inside.length() >= focus.length() && !inside.empty() ? inside : view;
}

EvidencePlace place_of(const TimelineModel& model, const analyzer::Evidence& evidence) {
  EvidencePlace place;
  Target target = Target::of(evidence.event);
  if (model.find(target)) place.target = target;
  Interval focus = evidence.where;
  if (focus.empty() && place.target) focus = model.interval_of(place.target);
  place.view = with_context(focus, model.bounds);
  return place;
}

}  // namespace headway::gui
