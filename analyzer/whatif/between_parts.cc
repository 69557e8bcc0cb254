// SPDX-License-Identifier: MIT
#include "analyzer/whatif/between_parts.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "analyzer/evidence/between_steps.h"
#include "analyzer/whatif/host_time.h"
#include "analyzer/whatif/step_parts.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Significance level of the test whether steps after an occasion take longer.
constexpr double kByChance = 0.01;
/// A factor that no length shows, for what stays: a ceiling takes away what a fix makes shorter.
constexpr double kKept = 1 - 1e-12;
/// With fewer steps of a kind, they are not compared.
constexpr std::size_t kLeastSteps = 8;

bool lies_in(const Trace& trace, RangeId range, BetweenCause cause) {
  for (; range.valid(); range = trace.ranges.parent[range.value])
    if (says_between(trace, trace.ranges.name[range.value], cause)) return true;
  return false;
}

/// The steps that a process makes, by start.
using StepsOfProcess = std::map<ProcessId, std::vector<const Step*>>;

StepsOfProcess steps_of_processes(const Trace& trace, const Steps& steps) {
  StepsOfProcess all;
  for (const Step& step : steps.all) all[trace.threads[step.thread.value].process].push_back(&step);
  return all;
}

/// The steady step that a process is in, or has made last, at this time; null without one.
const Step* step_at(const StepsOfProcess& steps, ProcessId process, TimeNs time) {
  const auto its = steps.find(process);
  if (its == steps.end()) return nullptr;
  const auto next = std::ranges::upper_bound(its->second, time, {},
                                             [](const Step* one) { return one->host.begin; });
  if (next == its->second.begin()) return nullptr;
  const Step* step = *(next - 1);
  return step->steady && time < step->next ? step : nullptr;
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

std::vector<bool> BetweenEditor::parts_of_cause() const {
  std::vector<bool> its(predictor_.parts().size());
  for (std::size_t p = 0; p < its.size(); ++p) {
    const Part& part = predictor_.parts()[p];
    its[p] = part.time_class == TimeClass::kBetweenSteps && part.name.valid() &&
             says_between(predictor_.trace(), part.name, cause_);
  }
  return its;
}

/// An occasion is what a step's number stands for, on all ranks. A device carries out later what its host launched.
void BetweenEditor::drop_every_second(Editor& editor) const {
  const Trace& trace = predictor_.trace();
  const Program& program = predictor_.program();
  const Points& points = program.graph().points();
  const std::vector<bool> of_cause = parts_of_cause();
  const StepsOfProcess steps = steps_of_processes(trace, predictor_.analysis().steps);
  std::map<std::int64_t, std::vector<Constraint>> occasions;  // by number of the step
  const auto add = [&](ThreadId thread, TimeNs time, const Constraint& constraint) {
    if (!of_cause[constraint.part.value]) return;
    if (const Step* step = step_at(steps, trace.threads[thread.value].process, time))
      occasions[step->number].push_back(constraint);
  };
  for_each_host_time(predictor_, [&](ThreadId thread, Interval when, const Constraint& constraint) {
    add(thread, when.begin, constraint);
  });
  for (std::uint32_t op = 0; op < trace.device_ops.size(); ++op) {
    const CallId call = trace.device_ops.call[op];
    const TaskId task = points.task(DeviceOpId{op});
    if (!call.valid() || !task.valid()) continue;
    program.for_each(program.slot_of(end_of(task)), [&](const Constraint& constraint) {
      add(trace.calls.thread[call.value], trace.calls.start[call.value], constraint);
    });
  }
  std::size_t left = occasions.size();
  bool goes = false;
  for (const auto& [step, constraints] : occasions) {
    goes = !goes;
    const bool has_pair = left-- > 1;
    if (!goes) continue;
    for (const Constraint& one : constraints)
      editor.set_lag(one.id, has_pair ? DurationNs{} : one.lag / 2);
  }
}

void BetweenEditor::scale_parts(Scenario& scenario, double by) const {
  const std::vector<bool> of_cause = parts_of_cause();
  for (std::size_t p = 0; p < of_cause.size(); ++p)
    if (of_cause[p]) scenario.scale(PartId::from(p), by);
}

Scenario BetweenEditor::half_as_often() const {
  Editor editor(predictor_);
  drop_aftermath(editor);
  drop_waits(editor, false);
  drop_every_second(editor);
  Scenario scenario = editor.take();
  scale_parts(scenario, kKept);
  scenario.on_schedule = is_on_schedule(cause_);
  return scenario;
}

Scenario BetweenEditor::scaled(double by) const {
  Editor editor(predictor_);
  drop_waits(editor, by == 0);
  Scenario scenario = editor.take();
  scale_parts(scenario, by);
  scenario.on_schedule = is_on_schedule(cause_);
  return scenario;
}

}  // namespace headway::analyzer
