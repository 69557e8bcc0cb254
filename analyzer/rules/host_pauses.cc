// SPDX-License-Identifier: MIT
// host-pauses: the host pauses between steps or in some of them, and the recording shows no
//   reason.
//
// Symptom: every few steps, or before each step, the device idles in a pause without a range, a
//   call or a collective.
// Mechanism: the training thread evaluates, writes a checkpoint or a log, or collects garbage
//   without a range; another process or a lock holds its processor; or step work runs outside the
//   step's range.
// Formula: time between steps outside all ranges, per steady step, plus the host's own time in
//   steps if more than a tenth of them have far more of it (rarer cases belong to step-outlier). A
//   pause exceeds the median + max(5 MAD, 10 % of the median step). Recoverable = the excess over
//   the median, from 5 % of the step cost. If the median itself is 5 % (20 % on a training thread
//   without a device), each step has a pause, and recoverable is all of this time.
// Falsified by: a range that names the cause (evaluation-time, checkpoint-time, logging-time,
//   garbage-collection, loader-restart), or device work queued meanwhile.
// Known false positives: deliberate sleeps; a step range that ends before the step's work.
// Source: the step cost includes all work for a step (docs/design/0051-step-cost.md).
#include "analyzer/evidence/host_pauses.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/evidence/support.h"
#include "analyzer/partition/sampled_work.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

DurationNs middle_of(const HostPauses& of) {
  std::vector<double> times;
  for (const HostPauses::Pause& one : of.pauses) times.push_back(static_cast<double>(one.time.ns));
  return {times.empty() ? 0 : static_cast<std::int64_t>(median(times))};
}

/// The name of the range that lies in most pauses; empty if nothing was recorded there.
std::string_view named(const RuleContext& context, const HostPauses& of) {
  const HostPauses::Pause* longest = nullptr;
  std::size_t ranged = 0;
  for (const HostPauses::Pause& one : of.pauses) {
    if (one.event.kind == EventRef::Kind::kNone) continue;
    ++ranged;
    if (!longest || one.time > longest->time) longest = &one;
  }
  return 2 * ranged > of.pauses.size() ? name_of(context.trace, longest->event)
                                       : std::string_view();
}

std::string what_it_may_be(const HostPauses& of) {
  if (of.every > 0)
    return "Pauses every n steps are usually evaluation, checkpoints or logging without a range.";
  if (of.pauses.size() > 1)
    return "Irregular pauses are usually garbage collection, a competing process, or slow writes "
           "to storage.";
  return "Possible reasons: evaluation, a checkpoint, garbage collection, a competing process.";
}

/// True if most of the pauses' time lies inside steps.
bool are_inside(const HostPauses& of) {
  return 2 * of.inside.ns > of.per_step.ns;
}

/// What the thread ran in the pauses, by samples of its stack; empty without samples.
std::string sampled_text(const RuleContext& context, const HostPauses& of) {
  constexpr std::size_t kNamed = 3;
  std::vector<Interval> where;
  DurationNs whole;
  for (const HostPauses::Pause& one : of.pauses) {
    where.push_back(one.where);
    whole += one.where.length();
  }
  std::ranges::sort(where, {}, &Interval::begin);
  const SampledWorks sampled = sampled_works(context.trace, context.steps, *of.partition, where);
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, sampled.works.size()); ++i) {
    const SampledWork& work = sampled.works[i];
    text += fmt::format("{} {}{} in '{}'", i ? "," : "",
                        format_percent(ratio(work.per_step * of.steps, whole)),
                        i ? "" : " of that time", function_text(work));
  }
  return text.empty() ? text : fmt::format("Stack samples show{}.", text);
}

std::string claim_of_pauses(const RuleContext& context, const HostPauses& of) {
  const std::string_view name = named(context, of);
  const std::string sampled = sampled_text(context, of);
  return fmt::format("The host pauses {} steps, {} in {} steps{}, for {}{}: {} on average. {}",
                     are_inside(of) ? "inside of" : "between",
                     of.pauses.size() == 1 ? "once" : fmt::format("{} times", of.pauses.size()),
                     of.steps, of.every > 0 ? fmt::format(" (every {} steps)", of.every) : "",
                     format_duration(middle_of(of)), of.pauses.size() == 1 ? "" : " each",
                     of_step(context, of.per_step, context.step),
                     !name.empty()      ? fmt::format("Range: '{}'.", name)
                     : !sampled.empty() ? sampled
                                        : "Nothing is recorded there. " + what_it_may_be(of));
}

std::string claim_of_each(const RuleContext& context, const HostPauses& of, DurationNs whole) {
  return fmt::format(
      "Before each of {} steps, the host spends {} (median) outside steps and ranges: {} on "
      "average. This may be step work that the range misses (fetching data, metrics), or a wait "
      "for another process.",
      of.steps, format_duration(of.usual), of_step(context, whole, context.step));
}

std::vector<Evidence> evidence(std::vector<HostPauses::Pause> longest, DurationNs usual) {
  std::ranges::stable_sort(longest, std::ranges::greater{}, &HostPauses::Pause::time);
  constexpr std::size_t kMost = 12;
  if (longest.size() > kMost) longest.resize(kMost);
  std::vector<Evidence> list;
  for (const HostPauses::Pause& one : longest)
    list.push_back({one.where, one.event,
                    fmt::format("{} the host works outside all ranges for {}, the median is {}",
                                2 * one.inside.ns > one.time.ns ? "in a step" : "between two steps",
                                format_duration(one.time), format_duration(usual))});
  return list;
}

/// `is_named`: the finding names the work; else it has to be found first.
std::vector<Advice> advice(bool is_named) {
  const std::string text = is_named
                               ? "Do this work less often, on another thread, or at a time of "
                                 "your choice."
                               : "Find out what the program does there and mark it with a range. "
                                 "Do it less often, or on another thread.";
  const std::string find =
      "torch.profiler.record_function(\"evaluation\") around what the loop "
      "does between steps; py-spy record -- python3 train.py; ";
  return {{"headway-train", "Remove the planted pauses.", "--pause-every 0", ""},
          {"PyTorch", text,
           (is_named ? "" : find) + "gc.freeze(); taskset for a processor of its own", ""},
          {"TensorFlow/JAX", text,
           is_named ? "gc.freeze(); taskset for a processor of its own"
                    : "jax.profiler.TraceAnnotation, tf.profiler.experimental.Trace; gc.freeze()",
           ""}};
}

/// Unnamed time per step, if each step has a pause.
DurationNs between_each(const HostPauses& of) {
  return of.usual + of.per_step;
}

Finding check(const Rule& rule, const RuleContext& context) {
  if (context.steps.all.empty())
    return cannot_tell(rule, "The trace has no steps; name their ranges with --step-range.");
  const HostPauses of = find_host_pauses(context);
  if (!of.partition) return cannot_tell(rule, "No step is steady: record more steps.");
  if (of.steps < HostPauses::kLeastSteps)
    return cannot_tell(
        rule,
        fmt::format("{} steady steps are too few to know the usual pause; record at least {}.",
                    of.steps, HostPauses::kLeastSteps + 2));
  const bool each = has_pause_each_step(context, of);
  const DurationNs time = each ? between_each(of) : of.per_step;
  if (ratio(time, context.step) < kFindingShare)
    return fine(rule, fmt::format("{} pauses outside all ranges: {}.", of.pauses.size(),
                                  of_step(context, time, context.step)));
  Finding finding = found(rule, time, context);
  finding.claim = each ? claim_of_each(context, of, time) : claim_of_pauses(context, of);
  finding.sub_cause = each ? "each-step" : of.every > 0 ? "periodic" : "irregular";
  // The pauses are measured, but a single one may be rarer than the length of the recording
  // suggests.
  finding.confidence = each || of.pauses.size() > 1 ? 0.85 : 0.6;
  finding.evidence = evidence(each ? of.between : of.pauses, of.usual);
  const bool is_named =
      !each && (!named(context, of).empty() || !sampled_text(context, of).empty());
  finding.advice = advice(is_named);
  return finding;
}

}  // namespace

extern const Rule kHostPauses = {
    "host-pauses", "Host pauses",
    "Unexplained host pauses between or in steps take over 5 % of the step cost.", check};

}  // namespace headway::analyzer
