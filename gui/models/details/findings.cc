// SPDX-License-Identifier: MIT
#include "gui/models/details/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/ranks/job.h"
#include "analyzer/report/facts.h"
#include "common/format.h"
#include "gui/models/text/display_text.h"

namespace headway::gui {
namespace {

trace::ProcessId process_of(const trace::Trace& trace, analyzer::EventRef event) {
  using Kind = analyzer::EventRef::Kind;
  switch (event.kind) {
    case Kind::kRange:
      return trace.threads[trace.ranges.thread[event.index].value].process;
    case Kind::kCall:
      return trace.threads[trace.calls.thread[event.index].value].process;
    case Kind::kDeviceOp:
      return trace.streams[trace.device_ops.stream[event.index].value].process;
    case Kind::kNone:
      break;
  }
  return {};
}

}  // namespace

std::string_view words_of(analyzer::Status status) {
  switch (status) {
    case analyzer::Status::kFound:
      return "Found";
    case analyzer::Status::kFine:
      return "Fine";
    case analyzer::Status::kNoGain:
      return "No gain";
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
    if (analysis.job && finding.rank >= 0 && finding.status == analyzer::Status::kFound)
      line.title += fmt::format(" · rank {}", finding.rank);
    if (finding.status == analyzer::Status::kFound) {
      line.gain = analyzer::gain_label(analysis, finding);
      line.confidence = analyzer::confidence_label(finding);
      line.share = std::clamp(analyzer::gain_share(finding), 0.0, 1.0);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string evidence_note(const trace::Trace& trace, const analyzer::Analysis& analysis,
                          const analyzer::Finding& finding, const analyzer::Evidence& evidence) {
  std::int32_t rank = finding.rank;
  if (const trace::ProcessId process = process_of(trace, evidence.event); process.valid())
    rank = trace.processes[process.value].rank;
  // Evidence without an event belongs to the trace of the rank that the report looks at.
  if (rank < 0 && analysis.job) rank = analysis.job->ranks[analysis.job->critical].identity.rank;
  std::string note = display_text(evidence.note, 300);
  return analysis.job && rank >= 0 ? fmt::format("Rank {} · {}", rank, note) : note;
}

Interval with_context(Interval focus, Interval bounds) {
  std::int64_t length = std::max<std::int64_t>(focus.length().ns, 100);
  Interval view{{focus.begin.ns - length}, {focus.begin.ns + 2 * length}};
  // If the view does not fit into the bounds without cutting the focus, it is returned unclipped.
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
