// SPDX-License-Identifier: MIT
#include "analyzer/whatif/between_parts.h"

#include <algorithm>

#include "analyzer/evidence/between_steps.h"

namespace headway::analyzer {
namespace {

using namespace trace;

bool lies_in(const Trace& trace, RangeId range, BetweenCause cause) {
  for (; range.valid(); range = trace.ranges.parent[range.value])
    if (says_between(trace, trace.ranges.name[range.value], cause)) return true;
  return false;
}

}  // namespace

DurationNs BetweenEditor::per_step() const {
  return predictor_.analysis().partitions[predictor_.steps().partition].between[cause_];
}

std::int64_t BetweenEditor::occasions() const {
  return static_cast<std::int64_t>(between_work(rule_context(predictor_), cause_).occasions.size());
}

/// Of every second occasion, or of all. One is over when the next step begins.
void BetweenEditor::drop_waits(Editor& editor, bool all) const {
  const Trace& trace = predictor_.trace();
  const Points& points = predictor_.program().graph().points();
  const std::vector<Step>& steps = predictor_.analysis().steps.all;
  std::ptrdiff_t last = -1;
  bool goes = false;
  for (std::size_t i = 0; i < points.ranges().size(); ++i) {
    const RangeId range = points.ranges()[i];
    if (trace.info(range)->kind != RangeKind::kInputWait || !lies_in(trace, range, cause_))
      continue;
    const std::ptrdiff_t step =
        std::ranges::upper_bound(steps, trace.ranges.start[range.value], {},
                                 [](const Step& one) { return one.host.begin; }) -
        steps.begin();
    if (step != last) goes = !goes;
    last = step;
    if (all || goes) editor.remove_edges(end_of(points.range_task(i)), EdgeKind::kBatch);
  }
}

Scenario BetweenEditor::scaled(double by) const {
  Editor editor(predictor_);
  drop_waits(editor, by == 0);
  Scenario scenario = editor.take();
  for (std::size_t p = 0; p < predictor_.parts().size(); ++p) {
    const Part& part = predictor_.parts()[p];
    if (part.time_class == TimeClass::kBetweenSteps && part.name.valid() &&
        says_between(predictor_.trace(), part.name, cause_))
      scenario.scale(PartId::from(p), by);
  }
  return scenario;
}

}  // namespace headway::analyzer
