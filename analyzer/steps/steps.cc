// SPDX-License-Identifier: MIT
#include "analyzer/steps/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <map>

#include "common/format.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

using trace::RangeId;
using trace::Ranges;
using trace::ThreadId;
using trace::Trace;

/// Fewer repetitions of a name than this are no training loop.
constexpr std::size_t kMinNamedSteps = 3;
/// With fewer steps than this, first and last are kept: dropping them would leave too little.
constexpr std::size_t kMinStepsToTrim = 5;

/// "ProfilerStep#12" -> "profilerstep", "train_step 7" -> "trainstep".
std::string step_word(std::string_view name) {
  std::string word;
  for (char c : name) {
    if (std::isalpha(static_cast<unsigned char>(c)))
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return word;
}

bool means_step(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kWords = {
      "step",      "profilerstep", "iteration",      "iter",
      "trainstep", "trainingstep", "trainiteration", "trainingiteration"};
  // Longer names are prose or op names that happen to contain the word.
  if (name.size() > 40) return false;
  return std::find(kWords.begin(), kWords.end(), step_word(name)) != kWords.end();
}

bool matches(std::string_view name, std::string_view pattern) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return name == pattern;
}

std::int64_t trailing_number(std::string_view name) {
  std::size_t begin = name.size();
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(name[begin - 1]))) --begin;
  if (begin == name.size() || name.size() - begin > 15) return -1;
  return std::stoll(std::string(name.substr(begin)));
}

/// Outermost ranges that `is_step` accepts, by thread.
std::map<ThreadId, std::vector<RangeId>> collect(const Trace& trace,
                                                 const std::function<bool(RangeId)>& is_step) {
  std::map<ThreadId, std::vector<RangeId>> by_thread;
  const Ranges& ranges = trace.ranges;
  std::map<ThreadId, TimeNs> covered;  // a step inside a step is not another one
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    RangeId id{i};
    if (ranges.is(id, Ranges::kMark) || !is_step(id)) continue;
    TimeNs& end = covered.try_emplace(ranges.thread[i], TimeNs::min()).first->second;
    if (ranges.start[i] < end) continue;
    end = ranges.end[i];
    by_thread[ranges.thread[i]].push_back(id);
  }
  return by_thread;
}

/// In each process only the thread with the most steps trains.
void keep_training_threads(const Trace& trace, std::map<ThreadId, std::vector<RangeId>>& by_thread,
                           std::size_t minimum) {
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

std::string describe(const Trace& trace, const std::map<ThreadId, std::vector<RangeId>>& by_thread,
                     std::string_view kind) {
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
/// user.
int mark_unsteady(std::vector<Step>& steps, const Trace& trace, int skip) {
  for (Step& step : steps) step.steady = !trace.ranges.is(step.range, Ranges::kUnfinished);
  if (steps.size() >= kMinStepsToTrim) {
    steps.front().steady = false;
    steps.back().steady = false;
  }
  for (std::size_t i = 0; i < steps.size() && static_cast<int>(i) < skip; ++i)
    steps[i].steady = false;
  std::vector<double> durations;
  for (const Step& step : steps) {
    if (step.steady) durations.push_back(static_cast<double>(step.host.length().ns));
  }
  if (durations.size() < 2 * kMinStepsToTrim || skip >= 0) return 0;
  // Judged by the second half, which warm-up does not reach.
  std::vector<double> late(durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2),
                           durations.end());
  double limit = median(late) + std::max(5 * median_absolute_deviation(late), 0.25 * median(late));
  int dropped = 0;
  for (Step& step : steps) {
    if (!step.steady) continue;
    bool slow = static_cast<double>(step.host.length().ns) > limit;
    if (!slow || static_cast<std::size_t>(dropped) >= durations.size() / 2) break;
    step.steady = false;
    ++dropped;
  }
  return dropped;
}

void fill(Steps& result, const Trace& trace,
          const std::map<ThreadId, std::vector<RangeId>>& by_thread, int skip) {
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
    result.dropped_warm_up += mark_unsteady(steps, trace, skip);
    result.all.insert(result.all.end(), steps.begin(), steps.end());
  }
  std::stable_sort(result.all.begin(), result.all.end(),
                   [](const Step& a, const Step& b) { return a.host.begin < b.host.begin; });
  for (std::uint32_t i = 0; i < result.all.size(); ++i) {
    if (result.all[i].steady) result.steady.push_back(i);
  }
}

}  // namespace

std::vector<double> Steps::steady_durations_ns() const {
  std::vector<double> durations;
  for (std::uint32_t index : steady)
    durations.push_back(static_cast<double>(all[index].host.length().ns));
  std::sort(durations.begin(), durations.end());
  return durations;
}

Steps find_steps(const Trace& trace, const StepOptions& options) {
  Steps result;
  auto name = [&](RangeId id) { return trace.strings[trace.ranges.name[id.value]]; };
  auto attempt = [&](StepSource source, std::string_view kind, std::size_t minimum,
                     const std::function<bool(RangeId)>& is_step) {
    auto by_thread = collect(trace, is_step);
    keep_training_threads(trace, by_thread, minimum);
    if (by_thread.empty()) return false;
    result.source = source;
    result.how = describe(trace, by_thread, kind);
    fill(result, trace, by_thread, options.skip);
    return true;
  };
  if (!options.range.empty()) {
    if (!attempt(StepSource::kOption, "as asked", 1,
                 [&](RangeId id) { return matches(name(id), options.range); })) {
      result.how = fmt::format("no range is named '{}'", options.range);
    }
    return result;
  }
  auto declared = [&](RangeId id) {
    const trace::RangeInfo* info = trace.info(id);
    return info && info->kind == trace::RangeKind::kStep;
  };
  if (attempt(StepSource::kDeclared, "declared", 1, declared)) return result;
  // Each distinct name is judged once: traces have millions of ranges and thousands of names.
  std::map<trace::StringId, bool> judged;
  auto named = [&](RangeId id) {
    auto [slot, is_new] = judged.try_emplace(trace.ranges.name[id.value]);
    if (is_new) slot->second = means_step(name(id));
    return slot->second;
  };
  if (attempt(StepSource::kNamed, "by name", kMinNamedSteps, named)) return result;
  result.how = trace.ranges.size() == 0
                   ? "the trace has no ranges"
                   : "no range is named like a training step; name yours with --step-range";
  return result;
}

}  // namespace headway::analyzer
