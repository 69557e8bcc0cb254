// SPDX-License-Identifier: MIT
#include "cli/live/step_counter.h"

#include <algorithm>
#include <vector>

#include "common/step_name.h"

namespace headway::cli::live {
namespace {

bool says_its_number(const trace::Trace& trace, const analyzer::Step& step) {
  if (!step.range.valid()) return false;
  const trace::RangeInfo* info = trace.info(step.range);
  return (info && info->step >= 0) ||
         trailing_number(trace.strings[trace.ranges.name[step.range.value]]) >= 0;
}

}  // namespace

std::int64_t StepCounter::Thread::total() const {
  return numbered ? last_number - first_number + 1 : seen + missed;
}

std::int64_t StepCounter::Thread::since_base() const {
  return numbered ? last_number - base_number : seen + missed - base_seen;
}

void StepCounter::add(const trace::Trace& trace, const analyzer::Steps& steps) {
  std::map<std::int64_t, std::vector<const analyzer::Step*>> by_thread;
  for (const analyzer::Step& step : steps.all) {
    const bool open = step.range.valid() && trace.ranges.is(step.range, trace::Ranges::kUnfinished);
    if (!open) by_thread[trace.threads[step.thread.value].global_tid].push_back(&step);
  }
  for (const auto& [tid, found] : by_thread) {
    Thread& thread = threads_[tid];
    const std::vector<const analyzer::Step*>& all = found;
    if (thread.seen > 0 && all.front()->host.begin > thread.last && !thread.numbered) {
      // Estimates the steps between the stretches from the mean duration of these steps.
      const DurationNs mean = all.size() > 1 ? (all.back()->host.begin - all.front()->host.begin) /
                                                   static_cast<std::int64_t>(all.size() - 1)
                                             : DurationNs{};
      const DurationNs between = all.front()->host.begin - thread.last;
      if (mean.ns > 0 && between.ns > mean.ns * 3 / 2) {
        thread.missed += between.ns / mean.ns - 1;
        thread.estimated = true;
      }
    }
    for (const analyzer::Step* step : all) {
      if (thread.seen > 0 && step->host.begin <= thread.last) continue;
      // A program may restart its numbering in each epoch.
      if (!says_its_number(trace, *step) || (thread.seen > 0 && step->number <= thread.last_number))
        thread.numbered = false;
      if (thread.seen == 0) thread.first_number = step->number;
      ++thread.seen;
      thread.last = step->host.begin;
      thread.last_number = step->number;
      if (thread.base.ns == 0 && thread.seen == 2) {
        thread.base = step->host.begin;
        thread.base_number = step->number;
        thread.base_seen = thread.seen;
      }
    }
  }
}

StepCounter::Count StepCounter::count() const {
  const Thread* most = nullptr;
  for (const auto& [tid, thread] : threads_)
    if (!most || thread.total() > most->total()) most = &thread;
  if (!most) return {};
  Count count{most->total(), {}, 0, most->estimated};
  if (most->seen > 2 && most->since_base() > 0) {
    count.over = most->since_base();
    count.cost = (most->last - most->base) / count.over;
  }
  return count;
}

TimeNs StepCounter::newest() const {
  TimeNs behind = TimeNs{0};
  bool any = false;
  for (const auto& [tid, thread] : threads_) {
    if (thread.seen == 0) continue;
    behind = any ? std::min(behind, thread.last) : thread.last;
    any = true;
  }
  return behind;
}

bool StepCounter::is_numbered() const {
  return std::all_of(threads_.begin(), threads_.end(),
                     [](const auto& entry) { return entry.second.numbered; });
}

}  // namespace headway::cli::live
