// SPDX-License-Identifier: MIT
// graph-capture: the recorded work was captured, not run.
//
// Symptom: hundreds of launches, hardly any op on a device.
// Mechanism: during a capture, launches become graph nodes and nothing runs. One call runs the
//   graph later.
// Formula: fires if more than half of the launch calls lie inside a capture and have no device op.
//   Its time is the duration of the captures. No fix shortens it.
// Falsified by: device ops of those launches in the trace.
// Known false positives: none known; dropped ops lie outside captures.
// Source: stream capture of CUDA and HIP; inference engines capture one graph per batch size when they start.
#include <fmt/format.h>

#include "analyzer/evidence/recording.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

Finding check(const Rule& rule, const RuleContext& context) {
  if (context.trace.calls.size() == 0)
    return cannot_tell(rule, "The trace has no API calls; record with CUDA calls enabled.");
  const GraphCapture capture = find_graph_capture(context.trace);
  if (!is_capture(capture))
    return fine(rule, fmt::format("{} of {} launches were captured into a graph.",
                                  format_count(capture.captured), format_count(capture.launches)));
  Finding finding = found(rule, capture.time, context);
  // No step ran, so the captures have no share of one: rank this finding first.
  finding.share_of_step = 1;
  finding.claim = fmt::format(
      "{} of {} launches only capture a graph and run no op on a device. This recording shows {} "
      "of capture and no step. Record after startup, when the graph runs.",
      format_count(capture.captured), format_count(capture.launches),
      format_duration(capture.time));
  finding.confidence = 0.95;
  for (const Interval& interval : capture.captures)
    finding.evidence.push_back({interval, {}, "the whole capture"});
  constexpr std::size_t kShown = 12;
  if (finding.evidence.size() > kShown) finding.evidence.resize(kShown);
  return finding;
}

}  // namespace

extern const Rule kGraphCapture = {
    "graph-capture",
    "Recording shows a capture, not a run",
    "Over half of the launches are captured into a graph instead of executed.",
    check,
    false,
    "no step was recorded"};

}  // namespace headway::analyzer
