// SPDX-License-Identifier: MIT
#include "analyzer/partition/host_activity.h"

#include <algorithm>

namespace headway::analyzer {
namespace {

using namespace trace;

struct Item {
  Interval interval;
  EventRef event;
};

/// Ranges and calls of the thread in one list, by start, longer first: outer before inner.
std::vector<Item> items_of(const Trace& trace, ThreadId thread) {
  std::vector<Item> items;
  for (RangeId id : trace.ranges_of_thread[thread]) {
    if (!trace.ranges.is(id, Ranges::kMark) && !trace.ranges.is(id, Ranges::kStartEnd)) {
      items.push_back({trace.ranges.interval(id), EventRef::of(id)});
    }
  }
  auto ranges_end = static_cast<std::ptrdiff_t>(items.size());
  for (CallId id : trace.calls_of_thread[thread])
    items.push_back({trace.calls.interval(id), EventRef::of(id)});
  std::inplace_merge(items.begin(), items.begin() + ranges_end, items.end(),
                     [](const Item& a, const Item& b) {
                       if (a.interval.begin != b.interval.begin)
                         return a.interval.begin < b.interval.begin;
                       return a.interval.end > b.interval.end;
                     });
  return items;
}

}  // namespace

std::vector<Activity> HostActivity::flatten(ThreadId thread) const {
  std::vector<Activity> result;
  std::vector<Item> open;
  TimeNs now = TimeNs::min();
  auto emit = [&](TimeNs to) {
    if (open.empty() || to <= now) return;
    RangeId range;
    for (auto item = open.rbegin(); item != open.rend() && !range.valid(); ++item) {
      if (item->event.kind == EventRef::Kind::kRange) range = RangeId{item->event.index};
    }
    result.push_back({{now, to}, open.back().event, range});
  };
  auto close_until = [&](TimeNs t) {
    while (!open.empty() && open.back().interval.end <= t) {
      emit(open.back().interval.end);
      now = std::max(now, open.back().interval.end);
      open.pop_back();
    }
  };
  for (const Item& item : items_of(trace_, thread)) {
    close_until(item.interval.begin);
    emit(item.interval.begin);
    now = std::max(now, item.interval.begin);
    open.push_back(item);
  }
  close_until(TimeNs::max());
  return result;
}

std::span<const Activity> HostActivity::in(ThreadId thread, Interval window) {
  std::optional<std::vector<Activity>>& slot = of_thread_[thread.value];
  if (!slot) slot = flatten(thread);
  auto first = std::partition_point(slot->begin(), slot->end(), [&](const Activity& a) {
    return a.interval.end <= window.begin;
  });
  auto last = std::partition_point(
      first, slot->end(), [&](const Activity& a) { return a.interval.begin < window.end; });
  return {first, last};
}

}  // namespace headway::analyzer
