// SPDX-License-Identifier: MIT
#include "analyzer/steps/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "analyzer/steps/engine_passes.h"
#include "analyzer/steps/pattern.h"
#include "analyzer/steps/unrecorded_steps.h"
#include "analyzer/steps/warm_up.h"
#include "common/counted.h"
#include "common/format.h"
#include "common/statistics.h"
#include "common/step_name.h"

namespace headway::analyzer {
namespace {

using trace::RangeId;
using trace::Ranges;
using trace::ThreadId;
using trace::Trace;

/// Fewer repetitions of a name than this are not a training loop.
constexpr std::size_t kMinNamedSteps = 3;
/// With fewer steps than this, first and last are kept: dropping them would leave too little.
constexpr std::size_t kMinStepsToTrim = 5;
/// Marks the words of ranges around one pass of an inference engine.
constexpr std::string_view kPass = "[]";
/// torch.profiler's own mark around each step.
constexpr std::string_view kProfilerStep = "ProfilerStep";

bool matches(std::string_view name, std::string_view pattern) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return name == pattern;
}

using RangesOfThread = std::map<ThreadId, std::vector<RangeId>>;

/// Outermost ranges that `is_step` accepts, by thread.
template <class IsStep>
RangesOfThread collect(const Trace& trace, const RangeNames& names, const IsStep& is_step) {
  RangesOfThread by_thread;
  const Ranges& ranges = trace.ranges;
  std::vector<TimeNs> covered(trace.threads.size(), TimeNs::min());
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    RangeId id{i};
    if (!is_step(id) || ranges.is(id, Ranges::kMark)) continue;
    if (names.source(id) == RangeSource::kDevice) continue;
    TimeNs& end = covered[ranges.thread[i].value];
    if (ranges.start[i] < end) continue;  // a step inside a step is not another one
    end = ranges.end[i];
    by_thread[ranges.thread[i]].push_back(id);
  }
  return by_thread;
}

/// In each process only the thread with the most steps trains.
void keep_training_threads(const Trace& trace, RangesOfThread& by_thread, std::size_t minimum) {
  std::map<trace::ProcessId, ThreadId> best;
  for (const auto& [thread, ranges] : by_thread) {
    if (ranges.size() < minimum) continue;
    auto [slot, is_new] = best.try_emplace(trace.threads[thread.value].process, thread);
    if (!is_new && ranges.size() > by_thread[slot->second].size()) slot->second = thread;
  }
  std::erase_if(by_thread, [&](const auto& entry) {
    auto chosen = best.find(trace.threads[entry.first.value].process);
    return chosen == best.end() || chosen->second != entry.first;
  });
}

std::string describe(const Trace& trace, const RangesOfThread& by_thread, std::string_view kind) {
  std::size_t count = 0;
  for (const auto& [thread, ranges] : by_thread) count += ranges.size();
  const auto& [thread, ranges] = *by_thread.begin();
  const trace::Thread& first = trace.threads[thread.value];
  std::string where = first.name.empty() ? fmt::format("thread {}", first.tid)
                                         : fmt::format("thread '{}'", first.name);
  if (by_thread.size() > 1) where += fmt::format(" and {} more", by_thread.size() - 1);
  return fmt::format("{} ranges '{}' on {} ({})", format_count(static_cast<std::int64_t>(count)),
                     trace.strings[trace.ranges.name[ranges.front().value]], where, kind);
}

/// Marks what is not steady on one thread: cut, first, last, slow at the start, skipped by the
/// user. `reads_cold_until`: cold_reads_until().
int mark_unsteady(std::vector<Step>& steps, const Trace& trace, TimeNs reads_cold_until,
                  const StepOptions& options) {
  const auto judged =
      steps.empty() ? options.judged.end() : options.judged.find(steps.front().thread);
  for (Step& step : steps)
    step.steady = (judged == options.judged.end() || judged->second.contains(step.host.begin)) &&
                  (!step.range.valid() || !trace.ranges.is(step.range, Ranges::kUnfinished));
  if (steps.size() >= kMinStepsToTrim) {
    steps.front().steady = false;
    steps.back().steady = false;
  }
  // The first step after unrecorded steps begins while the device is busy with those.
  for (std::size_t i = 1; i + 1 < steps.size(); ++i) {
    if (unrecorded_between(steps[i - 1], steps[i]) && steps[i + 1].number == steps[i].number + 1)
      steps[i].steady = false;
  }
  for (std::size_t i = 0; i < steps.size() && static_cast<int>(i) < options.skip; ++i)
    steps[i].steady = false;
  std::vector<double> durations;
  std::size_t cold = 0;
  for (const Step& step : steps) {
    if (!step.steady) continue;
    durations.push_back(static_cast<double>(step.host.length().ns));
    cold += step.host.begin < reads_cold_until;
  }
  if (durations.size() < 2 * kMinStepsToTrim || options.skip >= 0) return 0;
  cold += cold > 0;  // the next step takes the last cold batch
  const std::size_t slow =
      slow_at_first(durations, static_cast<double>(steps.front().host.length().ns));
  const std::size_t dropped =
      cold + least_late(durations.size()) > durations.size() ? slow : std::max(slow, cold);
  std::size_t left = dropped;
  for (Step& step : steps) {
    if (left == 0) break;
    if (!step.steady) continue;
    step.steady = false;
    --left;
  }
  return static_cast<int>(dropped);
}

/// Sets `next` in the steps of one thread, which are by start.
void find_next(std::vector<Step>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool known = i + 1 < steps.size() && !unrecorded_between(steps[i], steps[i + 1]);
    steps[i].next = known ? std::max(steps[i].host.begin, steps[i + 1].host.begin)
                          : std::max(steps[i].host.begin, steps[i].host.end);
  }
}

/// All steps in order, and which of them count.
void finish(Steps& result) {
  std::stable_sort(result.all.begin(), result.all.end(),
                   [](const Step& a, const Step& b) { return a.host.begin < b.host.begin; });
  for (std::uint32_t i = 0; i < result.all.size(); ++i) {
    if (result.all[i].steady) result.steady.push_back(i);
  }
}

void fill(Steps& result, const Trace& trace, const RangesOfThread& by_thread,
          const StepOptions& options) {
  const std::vector<StepSpan> spans = unrecorded_spans(trace);
  const TimeNs cold = cold_reads_until(trace);
  for (const auto& [thread, ranges] : by_thread) {
    std::vector<Step> steps;
    for (RangeId id : ranges) {
      Step step;
      step.range = id;
      step.thread = thread;
      step.host = trace.ranges.interval(id);
      const trace::RangeInfo* info = trace.info(id);
      step.number = info && info->step >= 0
                        ? info->step
                        : trailing_number(trace.strings[trace.ranges.name[id.value]]);
      if (step.number < 0) step.number = static_cast<std::int64_t>(steps.size());
      steps.push_back(step);
    }
    const std::optional<double> share = take_out_unrecorded(steps, spans);
    if (!result.unrecorded_share) result.unrecorded_share = share;
    result.dropped_warm_up += mark_unsteady(steps, trace, cold, options);
    find_next(steps);
    result.all.insert(result.all.end(), steps.begin(), steps.end());
  }
  finish(result);
}

/// The ranges named like a step. A loop may log several per step, or steps inside steps: of the
/// words used, the one whose ranges cover most time counts. "ProfilerStep#7" means nothing else, so
/// one is enough; so do the passes of an inference engine.
RangesOfThread collect_named(const Trace& trace, const RangeNames& names) {
  std::map<std::string, std::uint32_t, std::less<>> words;
  std::vector<std::uint32_t> word_of(names.base_count(), UINT32_MAX);
  for (std::uint32_t base = 0; base < names.base_count(); ++base) {
    const std::string_view name = names.base(base);
    const bool pass = means_pass(name);
    if (!pass && !means_step(name)) continue;
    std::string word;
    // What stands between the words of a pass is its batch, which changes from one to the next.
    for (char c : pass ? word_of_pass(name) : name) {
      if (std::isalpha(static_cast<unsigned char>(c))) word += c;
    }
    if (pass) word += kPass;
    word_of[base] = words.try_emplace(word, static_cast<std::uint32_t>(words.size())).first->second;
  }
  RangesOfThread best;
  DurationNs best_time;
  for (const auto& [word, number] : words) {
    auto by_thread = collect(trace, names, [&, wanted = number](RangeId id) {
      RangeSource source = names.source(id);
      return word_of[names[id].base] == wanted &&
             (source == RangeSource::kNvtx || source == RangeSource::kAnnotation);
    });
    const bool sure = word == kProfilerStep || word.ends_with(kPass);
    keep_training_threads(trace, by_thread, sure ? 1 : kMinNamedSteps);
    DurationNs time;
    for (const auto& [thread, ranges] : by_thread) {
      for (RangeId id : ranges) time += trace.ranges.interval(id).length();
    }
    if (word == kProfilerStep && !by_thread.empty()) return by_thread;
    if (time > best_time) {
      best = std::move(by_thread);
      best_time = time;
    }
  }
  return best;
}

void fill_pattern(Steps& result, const Trace& trace, const RangeNames& names,
                  const StepOptions& options) {
  const TimeNs cold = cold_reads_until(trace);
  for (const PatternSteps& pattern : find_pattern_steps(trace, names)) {
    if (!pattern.thread.valid() || pattern.steps.empty()) {
      if (result.how.empty()) result.how = pattern.how;
      continue;
    }
    if (result.source == StepSource::kNone) result.how = pattern.how;
    result.source = StepSource::kPattern;
    std::vector<Step> steps;
    for (const Interval& interval : pattern.steps) {
      Step step;
      step.number = static_cast<std::int64_t>(steps.size());
      step.thread = pattern.thread;
      step.host = interval;
      steps.push_back(step);
    }
    result.dropped_warm_up += mark_unsteady(steps, trace, cold, options);
    find_next(steps);
    result.all.insert(result.all.end(), steps.begin(), steps.end());
  }
  finish(result);
}

}  // namespace

std::vector<double> Steps::steady_durations_ns() const {
  std::vector<double> durations;
  for (std::uint32_t index : steady)
    durations.push_back(static_cast<double>(all[index].cycle().length().ns));
  std::sort(durations.begin(), durations.end());
  return durations;
}

DurationNs unrecorded_step(const Steps& steps) {
  if (!steps.unrecorded_share || steps.steady.empty()) return {};
  return DurationNs{std::llround(*steps.unrecorded_share * mean(steps.steady_durations_ns()))};
}

TimeNs Steps::warm_from() const {
  // A few are slow in every run: buffers fill, kernels are loaded.
  constexpr std::size_t kFew = 5;
  const std::size_t first = before_steady().size();  // is left out of every run
  return dropped_warm_up > 0 && first > kFew + 1 ? all[steady.front()].host.begin : TimeNs::min();
}

std::vector<std::uint32_t> Steps::before_steady() const {
  std::vector<std::uint32_t> before;
  for (std::uint32_t i = 0; !steady.empty() && i < steady.front(); ++i)
    if (all[i].thread == all[steady.front()].thread) before.push_back(i);
  return before;
}

std::string Steps::warm_up_note() const {
  if (warm_from() == TimeNs::min()) return "";
  const std::vector<std::uint32_t> before = before_steady();
  const auto count = std::ssize(before);
  DurationNs time;
  for (const std::uint32_t i : before) time += all[i].cycle().length();
  return fmt::format("the first {} are excluded as warm-up, {} each",
                     counted(count, "step", "steps"), format_duration(time / count));
}

std::string_view step_source_id(StepSource source) {
  switch (source) {
    case StepSource::kNone:
      return "none";
    case StepSource::kDeclared:
      return "declared";
    case StepSource::kNamed:
      return "named";
    case StepSource::kOption:
      return "option";
    case StepSource::kPattern:
      return "pattern";
  }
  return "none";
}

Steps find_steps(const Trace& trace, const StepOptions& options) {
  return find_steps(trace, RangeNames(trace), options);
}

Steps find_steps(const Trace& trace, const RangeNames& names, const StepOptions& options) {
  Steps result;
  auto accept = [&](StepSource source, std::string_view kind, RangesOfThread by_thread,
                    std::size_t minimum) {
    keep_training_threads(trace, by_thread, minimum);
    if (by_thread.empty()) return false;
    result.source = source;
    result.how = describe(trace, by_thread, kind);
    fill(result, trace, by_thread, options);
    return true;
  };
  if (!options.range.empty()) {
    auto wanted = collect(trace, names, [&](RangeId id) {
      return matches(trace.strings[trace.ranges.name[id.value]], options.range);
    });
    if (!accept(StepSource::kOption, "as asked", std::move(wanted), 1))
      result.how = fmt::format("no range is named '{}'", options.range);
    return result;
  }
  auto declared = collect(trace, names, [&](RangeId id) {
    const trace::RangeInfo* info = trace.info(id);
    return info && info->kind == trace::RangeKind::kStep;
  });
  if (accept(StepSource::kDeclared, "declared", std::move(declared), 1)) return result;
  if (accept(StepSource::kNamed, "by name", collect_named(trace, names), 1)) return result;
  fill_pattern(result, trace, names, options);
  if (result.source == StepSource::kPattern) return result;
  std::string pattern = result.how.empty() ? "" : "; " + result.how;
  result.how = trace.ranges.size() == 0 ? "the trace has no ranges" + pattern
                                        : "no range has the name of a training step" + pattern +
                                              "; name yours with --step-range";
  return result;
}

}  // namespace headway::analyzer
