// SPDX-License-Identifier: MIT
#include "analyzer/whatif/between_parts.h"

#include <algorithm>
#include <set>
#include <vector>

#include "analyzer/evidence/between_steps.h"
#include "analyzer/whatif/step_parts.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Significance level of the test whether steps after an occasion take longer.
constexpr double kByChance = 0.01;
/// With fewer steps of a kind, they are not compared.
constexpr std::size_t kLeastSteps = 8;

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

/// Drops the waits for batches of every second occasion, or of all. An occasion ends when the next
/// step begins.
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

/// Steps that have an occasion themselves are left out: their time without it is not known.
void BetweenEditor::drop_aftermath(Editor& editor) const {
  const BetweenWork work = between_work(rule_context(predictor_), cause_);
  std::set<std::int64_t> have_one;
  std::set<std::int64_t> come_after;
  std::set<std::int64_t> come_after_left_out;
  bool goes = false;
  for (const BetweenWork::Occasion& one : work.occasions) {
    goes = !goes;
    have_one.insert(one.step);
    come_after.insert(one.step + 1);
    if (goes) come_after_left_out.insert(one.step + 1);
  }
  std::vector<const MarkedStep*> after;
  std::vector<const MarkedStep*> others;
  for (const MarkedStep& step : predictor_.steps().steps) {
    const std::int64_t number = predictor_.analysis().steps.all[step.step].number;
    if (!have_one.contains(number)) (come_after.contains(number) ? after : others).push_back(&step);
  }
  if (after.size() < kLeastSteps || others.size() < kLeastSteps) return;
  const auto lengths = [&](const std::vector<const MarkedStep*>& steps) {
    std::vector<double> all;
    for (const MarkedStep* step : steps)
      all.push_back(static_cast<double>(predictor_.recorded(*step).length().ns));
    return all;
  };
  const std::vector<double> longer = lengths(after);
  const std::vector<double> usual = lengths(others);
  if (median(longer) <= median(usual) || mann_whitney_p(longer, usual) >= kByChance) return;
  const StepParts parts(predictor_);
  const StepParts::Times now = parts.usual(after);
  const StepParts::Times then = parts.usual(others);
  for (const MarkedStep* step : after)
    if (come_after_left_out.contains(predictor_.analysis().steps.all[step->step].number))
      parts.scale(*step, now, then, editor);
}

Scenario BetweenEditor::half_as_often() const {
  Editor editor(predictor_);
  drop_aftermath(editor);
  return scaled(0.5, editor);
}

Scenario BetweenEditor::scaled(double by) const {
  Editor editor(predictor_);
  return scaled(by, editor);
}

Scenario BetweenEditor::scaled(double by, Editor& editor) const {
  drop_waits(editor, by == 0);
  Scenario scenario = editor.take();
  for (std::size_t p = 0; p < predictor_.parts().size(); ++p) {
    const Part& part = predictor_.parts()[p];
    if (part.time_class == TimeClass::kBetweenSteps && part.name.valid() &&
        says_between(predictor_.trace(), part.name, cause_))
      scenario.scale(PartId::from(p), by);
  }
  scenario.on_schedule = is_on_schedule(cause_);
  return scenario;
}

}  // namespace headway::analyzer
