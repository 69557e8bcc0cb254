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

/// The limit up to which a step is not slower than the steps from `from` on, which warm-up does not
/// reach.
double limit_by(const std::vector<double>& durations, std::size_t from) {
  const std::vector<double> late(durations.begin() + static_cast<std::ptrdiff_t>(from),
                                 durations.end());
  return median(late) + std::max(5 * median_absolute_deviation(late), 0.25 * median(late));
}

/// The number of consecutive slow steps at the start; at most half of all steps.
std::size_t slow_in_a_row(const std::vector<double>& durations) {
  const std::size_t half = durations.size() / 2;
  const double limit = limit_by(durations, half);
  std::size_t dropped = 0;
  while (dropped < half && durations[dropped] > limit) ++dropped;
  // A slow step may have waited for what the next one needs (its batch); the device waits in that one.
  return dropped > 0 && dropped < half ? dropped + 1 : dropped;
}

/// The number of steps at the start that contain nearly all slow steps: a page cache fills in the first
/// epochs, or shapes occur for the first time. They are warm-up if most of them are slow, or if it happens
/// less than once in a thousand times that slow stretches at random times all lie that early, or that
/// stretches which go on coming as they did stay away for as long as the rest. The very first step
/// belongs to them: what was cold for it is cold for the next. The number includes it; 0: none but it.
std::size_t slow_now_and_then(const std::vector<double>& durations) {
  constexpr std::size_t kMinLate = 10;
  constexpr double kChance = 0.001;
  /// Share of all time beyond the limit that may lie later: steps just over the limit do not count.
  constexpr double kNextToNothing = 0.01;
  /// Stretches that tell at what distance they come.
  constexpr std::size_t kPattern = 4;
  const std::size_t late = std::max(durations.size() / 4, kMinLate);
  if (durations.size() < 2 * late) return 0;
  const double limit = limit_by(durations, durations.size() - late);
  double lost = 0;
  for (const double one : durations) lost += std::max(0.0, one - limit);
  double left = lost;
  std::size_t first = durations.size(), last = 0, reach = 0, slow = 0, stretches = 0;
  for (std::size_t i = 0; i < durations.size() && left > kNextToNothing * lost; ++i) {
    if (durations[i] <= limit) continue;
    left -= durations[i] - limit;
    first = std::min(first, i);
    reach = i + 1;
    ++slow;
    if (i == 0 || durations[i - 1] <= limit) {
      ++stretches;
      last = i;
    }
  }
  // A burst that begins later was set off by something that may come again, as an epoch does.
  if (reach <= 1 || reach > durations.size() - late || 4 * first > reach) return 0;
  const double share = static_cast<double>(reach) / static_cast<double>(durations.size());
  const bool early = std::pow(share, static_cast<double>(stretches)) < kChance;
  const double distance = static_cast<double>(last - first) /
                          static_cast<double>(std::max<std::size_t>(2, stretches) - 1);
  const auto rest = static_cast<double>(durations.size() - reach);
  const bool over = stretches >= kPattern && std::exp(-rest / distance) < kChance;
  if (!early && !over && 2 * slow <= reach) return 0;
  return std::min(reach + 1, durations.size() - late);
}

/// The number of steps at the start after which all are faster for good, by less than makes a step slow: data that was
/// read is in memory by then, or a clock has risen. 0 for a steady trend or noise.
std::size_t before_a_drop(const std::vector<double>& durations) {
  constexpr std::size_t kMinBefore = 5;
  constexpr std::size_t kMinLate = 10;
  constexpr double kWorthIt = 0.03;
  /// Least gap between the 10th percentile of the steps before the drop and the 90th after it, as a share of the drop.
  constexpr double kApart = 0.25;
  const std::size_t late = std::max(durations.size() / 5, kMinLate);
  if (durations.size() < kMinBefore + late) return 0;
  // Where the two parts differ most; a rare long step must not decide it.
  std::vector<double> sorted = durations;
  std::sort(sorted.begin(), sorted.end());
  const double most = sorted[sorted.size() * 9 / 10];
  double sum = 0, sum_before = 0, best = 0;
  for (const double one : durations) sum += std::min(one, most);
  std::size_t at = 0;
  for (std::size_t i = 1; i + late <= durations.size(); ++i) {
    sum_before += std::min(durations[i - 1], most);
    const auto before = static_cast<double>(i);
    const auto after = static_cast<double>(durations.size() - i);
    const double drop = sum_before / before - (sum - sum_before) / after;
    const double differ = drop * std::abs(drop) * before * after;
    if (i < kMinBefore || differ <= best) continue;
    best = differ;
    at = i;
  }
  if (at == 0) return 0;
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(at);
  std::vector<double> before(durations.begin(), middle), after(middle, durations.end());
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  const double drop = before[before.size() / 2] - after[after.size() / 2];
  const double apart = before[before.size() / 10] - after[(after.size() * 9 - 1) / 10];
  if (drop < kWorthIt * after[after.size() / 2] || apart < kApart * drop) return 0;
  // Most of the later steps decide that there is a drop; it may come a little after the first of them.
  const double half_way = after[after.size() / 2] + drop / 2;
  while (at + kMinLate < durations.size() && durations[at] > half_way) ++at;
  // As in slow_in_a_row().
  return std::min(at + 1, durations.size() - 1);
}

/// Marks what is not steady on one thread: cut, first, last, slow at the start, skipped by the
/// user.
int mark_unsteady(std::vector<Step>& steps, const Trace& trace, const StepOptions& options) {
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
  for (const Step& step : steps) {
    if (step.steady) durations.push_back(static_cast<double>(step.host.length().ns));
  }
  if (durations.size() < 2 * kMinStepsToTrim || options.skip >= 0) return 0;
  std::vector<double> with_first = durations;
  with_first.insert(with_first.begin(), static_cast<double>(steps.front().host.length().ns));
  const std::size_t cold = slow_now_and_then(with_first);
  const std::size_t dropped = std::max(
      {slow_in_a_row(durations), before_a_drop(durations), cold - std::min<std::size_t>(cold, 1)});
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
    result.dropped_warm_up += mark_unsteady(steps, trace, options);
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
    result.dropped_warm_up += mark_unsteady(steps, trace, options);
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
