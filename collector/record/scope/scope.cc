// SPDX-License-Identifier: MIT
#include "collector/record/scope/scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "collector/record/rows/trace_sink.h"
#include "common/counted.h"
#include "trace/meta_keys.h"

namespace headway::record {
namespace {

/// How late records of CUPTI may arrive: its buffers are flushed every second and drained every
/// 20 ms.
constexpr DurationNs kLatest{1'500'000'000};
constexpr DurationNs kHold{2'000'000'000};
/// A device is at most this many windows behind the program.
constexpr std::size_t kWindowsOfDevice = 64;

}  // namespace

DurationNs Scope::hold() const {
  if (options_.choice == Choice::kRing) return options_.ring;
  return options_.by_records() || options_.delay.ns > 0 ? kHold : DurationNs{};
}

bool Scope::wants_step(std::int64_t number) const {
  if (options_.choice == Choice::kSteps)
    return number >= options_.first_step && number <= options_.last_step;
  return options_.choice == Choice::kSampledSteps && number % options_.of_every < options_.sampled;
}

Scope::Window* Scope::find(Process& process, TimeNs time) {
  std::vector<Window>& windows = process.windows;
  auto holds = [&](std::size_t i) {
    return i < windows.size() && windows[i].begin <= time && time < windows[i].end;
  };
  if (holds(process.near)) return &windows[process.near];
  auto after = std::upper_bound(windows.begin(), windows.end(), time,
                                [](TimeNs t, const Window& window) { return t < window.begin; });
  if (after == windows.begin()) return nullptr;
  const auto index = static_cast<std::size_t>(after - windows.begin()) - 1;
  if (!holds(index)) return nullptr;
  process.near = index;
  return &windows[index];
}

bool Scope::in_windows(std::int32_t pid, TimeNs time) {
  auto own = processes_.find(pid);
  if (own != processes_.end() && (own->second.steps > 0 || !own->second.windows.empty()))
    return find(own->second, time) != nullptr;
  // A process without steps (a loader worker) works for the processes with steps: their windows
  // count.
  return std::any_of(processes_.begin(), processes_.end(),
                     [&](auto& item) { return find(item.second, time) != nullptr; });
}

bool Scope::keeps(std::int32_t pid, TimeNs start) {
  if (start < begin_ || start >= end_) return leave_out();
  if (!options_.by_records() || in_windows(pid, start)) return true;
  return leave_out();
}

bool Scope::touches(const Process& process, Interval span) {
  const std::vector<Window>& windows = process.windows;
  auto after = std::upper_bound(windows.begin(), windows.end(), span.end,
                                [](TimeNs t, const Window& window) { return t < window.begin; });
  return after != windows.begin() && std::prev(after)->end > span.begin;
}

bool Scope::keeps_sample(Interval covered) const {
  if (covered.end < begin_ || covered.begin >= end_) return false;
  return !options_.by_records() ||
         std::any_of(processes_.begin(), processes_.end(),
                     [&](const auto& item) { return touches(item.second, covered); });
}

bool Scope::keeps_launched(std::int32_t pid, TimeNs start, std::uint32_t correlation) {
  auto found = processes_.find(pid);
  if (correlation == 0 || hold().ns == 0 || found == processes_.end()) return keeps(pid, start);
  Process& process = found->second;
  if (!options_.by_records()) {
    if (process.whole.first_call == UINT32_MAX) return keeps(pid, start);
    return process.whole.launched(correlation) || leave_out();
  }
  if (process.windows.empty()) return keeps(pid, start);
  const std::size_t count = std::min(process.windows.size(), kWindowsOfDevice);
  const bool wanted = std::any_of(process.windows.rbegin(),
                                  process.windows.rbegin() + static_cast<std::ptrdiff_t>(count),
                                  [&](const Window& w) { return w.launched(correlation); });
  return wanted || leave_out();
}

void Scope::note_call(std::int32_t pid, TimeNs start, std::uint32_t correlation) {
  if (start < begin_ || start >= end_) return;
  Process& process = processes_[pid];
  if (!options_.by_records()) return process.whole.note(correlation);
  if (Window* window = find(process, start)) window->note(correlation);
}

void Scope::open(std::int32_t pid, TimeNs time) {
  Process& process = processes_[pid];
  if (process.open++ > 0) return;
  // Of two threads, the one that is read later may have opened its window earlier.
  if (!process.windows.empty()) time = std::max(time, process.windows.back().end);
  process.windows.push_back({time});
}

void Scope::close(std::int32_t pid, TimeNs time) {
  Process& process = processes_[pid];
  if (process.open == 0 || --process.open > 0) return;
  process.windows.back().end = std::max(time, process.windows.back().begin);
}

bool Scope::step_begins(std::int32_t pid, std::int64_t number) {
  Process& process = processes_[pid];
  ++process.steps;
  process.last_step = number;
  const bool wanted = wants_step(number);
  process.steps_wanted += wanted;
  return wanted;
}

void Scope::step_ended(std::int32_t pid, std::int64_t number, TimeNs time) {
  Process& process = processes_[pid];
  if (options_.choice != Choice::kSteps || number < options_.last_step || process.done) return;
  process.done = true;
  done_ = std::max(done_, time);
}

void Scope::image_ended(std::int32_t pid, TimeNs time) {
  auto found = processes_.find(pid);
  if (found == processes_.end()) return;
  found->second.gone = true;
  while (found->second.open > 0) close(pid, time);
}

void Scope::end_at(TimeNs time, std::string_view reason) {
  if (over_) return;
  end_ = std::min(end_, time);
  end_reason_ = reason;
  over_ = true;
}

void Scope::advance(TimeNs now) {
  if (over_) return;
  const DurationNs grace = cuda_ ? kLatest : DurationNs{};
  if (end_ != TimeNs::max() && now >= end_ + grace) end_at(end_, "--duration");
  if (options_.choice != Choice::kSteps || now < done_ + kHold) return;
  bool done = false;
  for (const auto& [pid, process] : processes_) {
    if (process.steps > 0 && !process.done && !process.gone) return;
    done |= process.done && !process.gone;
  }
  if (done) end_at(done_, "--steps");
}

std::optional<TimeNs> Scope::end() const {
  if (!over_) return std::nullopt;
  return end_;
}

std::vector<Interval> Scope::recorded(TimeNs now) const {
  const TimeNs last = std::min(end_, now);
  if (!options_.by_records()) return {{begin_, last}};
  std::vector<Interval> all;
  for (const auto& [pid, process] : processes_) {
    for (const Window& window : process.windows)
      all.push_back(intersect({window.begin, window.end}, {begin_, last}));
  }
  std::erase_if(all, [](const Interval& interval) { return interval.empty(); });
  std::sort(all.begin(), all.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::vector<Interval> merged;
  for (const Interval& interval : all) {
    if (!merged.empty() && interval.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, interval.end);
    } else {
      merged.push_back(interval);
    }
  }
  return merged;
}

std::string Scope::choice_text() const {
  switch (options_.choice) {
    case Choice::kSteps:
      if (options_.first_step == options_.last_step)
        return fmt::format("step {}", options_.first_step);
      return options_.last_step == INT64_MAX
                 ? fmt::format("steps from {}", options_.first_step)
                 : fmt::format("steps {} to {}", options_.first_step, options_.last_step);
    case Choice::kSampledSteps:
      return fmt::format("the first {} of every {} steps", options_.sampled, options_.of_every);
    case Choice::kRange:
      return fmt::format("while range '{}'{} was open", options_.range,
                         options_.domain ? fmt::format(" of domain '{}'", *options_.domain) : "");
    case Choice::kCudaProfiler:
      return "from cudaProfilerStart to cudaProfilerStop";
    case Choice::kRing:
      return fmt::format("the last {}", format_duration(options_.ring));
    case Choice::kAll:
      return "";
  }
  return "";
}

std::string Scope::span_text() const {
  const std::string delay = format_duration(options_.delay);
  if (options_.duration)
    return options_.delay.ns > 0
               ? fmt::format("{} after the first {}", format_duration(*options_.duration), delay)
               : fmt::format("the first {}", format_duration(*options_.duration));
  return options_.delay.ns > 0 ? fmt::format("all after the first {}", delay) : "";
}

std::optional<DurationNs> Scope::kept(TimeNs now) const {
  if (!options_.by_time()) return std::nullopt;
  DurationNs time;
  for (const Interval& stretch : recorded(now)) time += stretch.length();
  return time;
}

std::string Scope::text(TimeNs now) const {
  std::string text = choice_text();
  auto add = [&](const std::string& part, const char* separator) {
    if (!part.empty()) text += (text.empty() ? "" : separator) + part;
  };
  add(span_text(), ", of ");
  if (!end_reason_.empty() && end_reason_.front() != '-') add(end_reason_, ", ");
  if (!options_.ranks.empty()) add("only some ranks", ", ");
  if (!options_.children) add("without child processes", ", ");
  if (text.empty()) return "";
  if (options_.by_time()) {
    std::int64_t steps = 0;
    std::int64_t wanted = 0;
    std::int64_t last = -1;
    for (const auto& [pid, process] : processes_) {
      steps += process.steps;
      wanted += process.steps_wanted;
      last = std::max(last, process.last_step);
    }
    const std::vector<Interval> stretches = recorded(now);
    const bool by_steps =
        options_.choice == Choice::kSteps || options_.choice == Choice::kSampledSteps;
    text += ": ";
    if (options_.by_records() && stretches.empty()) {
      text += !by_steps    ? "that never came"
              : steps == 0 ? "no step was found: name the step ranges with --step-range"
                           : fmt::format("none was found: the last step was number {}", last);
    } else {
      if (by_steps) text += counted(wanted, "step", "steps") + ", ";
      if (stretches.size() > 1)
        text +=
            fmt::format("{} windows, ", format_count(static_cast<std::int64_t>(stretches.size())));
      text += fmt::format("{} of {}", format_duration(*kept(now)), format_duration(now - TimeNs{}));
    }
    if (left_out_ > 0)
      text += fmt::format("; {} outside excluded", counted(left_out_, "event", "events"));
  }
  if (processes_left_out_ > 0)
    text += fmt::format("; {} excluded", counted(processes_left_out_, "process", "processes"));
  return text;
}

void Scope::describe(TraceSink& sink, TimeNs now, const std::string& typed) const {
  namespace meta = trace::meta;
  const std::string sentence = text(now);
  if (sentence.empty()) return;
  sink.set_meta(meta::kScope, sentence);
  sink.set_meta(meta::kScopeOptions, typed);
  sink.set_meta(meta::kScopeLeftOut, std::to_string(left_out_));
  sink.set_meta(meta::kScopeProcessesLeftOut, std::to_string(processes_left_out_));
  sink.set_meta(meta::kScopeWindows, std::to_string(recorded(now).size()));
  if (over_) sink.set_meta(meta::kScopeEnded, end_reason_);
}

}  // namespace headway::record
