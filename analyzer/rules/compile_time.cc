// SPDX-License-Identifier: MIT
// compile-time: compiling the model costs more than it can gain in a run of this length.
//
// Symptom: the first steps take seconds to minutes, and occasionally a later one does.
// Mechanism: a compiler traces the model, generates code and builds it at the first call. It
//   repeats this for each new shape, type or Python value that its guards fixed.
// Formula: c = training thread time in compiler ranges (torch.compile, marked by the PyTorch hook;
//   frames of torch/_dynamo/convert_frame.py; XLA's backend_compile). Fires if c takes as long as
//   ten steps and a tenth of the recording. Recoverable = c divided by the steps of the recording,
//   at least 1 000, because most of it is paid once and runs are longer than recordings. Compiling
//   after the first three steps is recompilation.
// Falsified by: a warm compiler cache (c is short).
// Known false positives: a short trial of a program that will run for days.
// Source: PyTorch's guides to recompilations and caches of torch.compile.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"
#include "common/interval_set.h"

namespace headway::analyzer {
namespace {

constexpr std::int64_t kMinSteps = 10;
constexpr double kOfRecording = 0.1;
constexpr std::int64_t kAssumedSteps = 1000;  ///< minimum length of a real run
constexpr std::size_t kFirstSteps = 3;

bool compiles(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNames = {
      "torch/_dynamo/convert_frame.py", "backend_compile", "XlaCompile", "XLA compile"};
  return name == "torch.compile" || std::ranges::any_of(kNames, [&](std::string_view one) {
           return name.find(one) != std::string_view::npos;
         });
}

struct Compilation {
  IntervalSet all;
  std::size_t count = 0;  ///< outermost ranges
  DurationNs later;       ///< after the first steps
  std::size_t later_steps = 0;
  std::vector<Evidence> longest;
};

Compilation find_compilation(const RuleContext& context, trace::ThreadId thread) {
  const trace::Trace& trace = context.trace;
  Compilation result;
  std::vector<Interval> intervals;
  std::vector<bool> known(trace.strings.size());
  std::vector<bool> of_name(trace.strings.size());
  const TimeNs warm =
      context.steps.all[std::min(kFirstSteps, context.steps.all.size() - 1)].host.begin;
  std::set<std::int64_t> steps;
  for (const trace::RangeId id : trace.ranges_of_thread[thread]) {
    const trace::StringId name = trace.ranges.name[id.value];
    if (!known[name.value]) {
      known[name.value] = true;
      of_name[name.value] = compiles(trace.strings[name]);
    }
    if (!of_name[name.value]) continue;
    const Interval interval = trace.ranges.interval(id);
    if (!intervals.empty() && interval.begin < intervals.back().end) continue;  // inside the last
    intervals.push_back(interval);
    ++result.count;
    result.longest.push_back({interval, EventRef::of(id),
                              fmt::format("compiles for {}", format_duration(interval.length()))});
    if (interval.begin < warm) continue;
    result.later += interval.length();
    const auto step = std::ranges::upper_bound(context.steps.all, interval.begin, {},
                                               [](const Step& one) { return one.host.begin; });
    steps.insert(step - context.steps.all.begin());
  }
  result.later_steps = steps.size();
  result.all = IntervalSet::from_unsorted(std::move(intervals));
  std::ranges::stable_sort(result.longest, std::ranges::greater{},
                           [](const Evidence& one) { return one.where.length(); });
  constexpr std::size_t kShown = 8;
  if (result.longest.size() > kShown) result.longest.resize(kShown);
  return result;
}

TimeNs first_event(const trace::Trace& trace) {
  TimeNs first = trace.end;
  for (const auto* starts : {&trace.ranges.start, &trace.calls.start, &trace.device_ops.start})
    if (!starts->empty()) first = std::min(first, starts->front());
  return first;
}

std::string what_came_later(const RuleContext& context, const Compilation& compilation) {
  std::string text;
  if (compilation.later.ns > 0)
    text += fmt::format(" {} of these come after the first {} steps, in {} of them: recompilation.",
                        format_duration(compilation.later), kFirstSteps, compilation.later_steps);
  std::string_view told;  // after each compilation
  for (const auto& [name, value] : context.trace.settings)
    if (name == "torch.compile") told = value;
  if (!told.empty()) text += fmt::format(" Reported by the compiler: {}.", told);
  return text;
}

Finding check(const Rule& rule, const RuleContext& context) {
  if (context.steps.all.empty() || context.step.ns <= 0)
    return cannot_tell(rule, "The trace has no steps; name their ranges with --step-range.");
  const Compilation compilation = find_compilation(context, context.steps.all.front().thread);
  const DurationNs time = compilation.all.total();
  if (compilation.count == 0)
    return fine(rule, "No range shows a compiler on the training thread.");
  const DurationNs recording = context.trace.end - first_event(context.trace);
  if (time < context.step * kMinSteps || ratio(time, recording) < kOfRecording)
    return fine(rule, fmt::format("Compiling: {} of the recording's {}.", format_duration(time),
                                  format_duration(recording)));
  const std::int64_t steps =
      std::max(static_cast<std::int64_t>(context.steps.all.size()), kAssumedSteps);
  Finding finding = found(rule, std::min(context.step, time / steps), context);
  if (compilation.later * 2 > time) finding.sub_cause = "recompilation";
  finding.claim = fmt::format(
      "Compiling takes {} of the recorded {}, in {} parts: as long as {} steps. Per-step figures "
      "divide it by {} steps.{}",
      format_duration(time), format_duration(recording), compilation.count,
      format_count(time.ns / context.step.ns), format_count(steps),
      what_came_later(context, compilation));
  finding.confidence = 0.8;
  finding.evidence = compilation.longest;
  finding.advice = {
      {"PyTorch",
       "Cache compiled code between runs, and find out what recompiles. Compile repeated blocks "
       "separately: each compiles once.",
       "TORCHINDUCTOR_FX_GRAPH_CACHE=1, TORCH_LOGS=recompiles,graph_breaks, "
       "torch.compile(block, dynamic=True) for each block",
       ""},
      {"TensorFlow/JAX", "Cache compiled code between runs, and pad shapes to a few sizes.",
       "jax.config.update('jax_compilation_cache_dir', …), JAX_LOG_COMPILES=1", ""}};
  return finding;
}

}  // namespace

extern const Rule kCompileTime = {
    "compile-time",
    "Time to compile",
    "Compiling takes as long as ten steps and over 10 % of the recording.",
    check,
    false,
    "mostly one-off cost before the predicted steps; the gain per run is this whole time"};

}  // namespace headway::analyzer
