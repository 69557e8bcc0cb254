// SPDX-License-Identifier: MIT
#include "analyzer/partition/host_activity.h"

#include <algorithm>

namespace headway::analyzer {
namespace {

using namespace trace;

/// The first row that starts after `t`, looked for from `hint` on in growing steps.
template <class Id>
std::size_t first_after(std::span<const Id> rows, const std::vector<TimeNs>& start, TimeNs t,
                        std::size_t hint) {
  auto after = [&](std::size_t i) { return start[rows[i].value] > t; };
  std::size_t low = 0;
  std::size_t high = rows.size();
  hint = std::min(hint, rows.size());
  if (hint < rows.size() && !after(hint)) {
    low = hint + 1;
    for (std::size_t step = 1; low + step < rows.size(); step *= 2) {
      if (after(low + step)) {
        high = low + step;
        break;
      }
      low += step + 1;
    }
  } else {
    high = hint;
    for (std::size_t step = 1; high >= step; step *= 2) {
      if (!after(high - step)) {
        low = high - step + 1;
        break;
      }
      high -= step;
    }
  }
  auto found = std::partition_point(rows.begin() + static_cast<std::ptrdiff_t>(std::min(low, high)),
                                    rows.begin() + static_cast<std::ptrdiff_t>(high),
                                    [&](Id id) { return start[id.value] <= t; });
  return static_cast<std::size_t>(found - rows.begin());
}

bool takes_time(const Ranges& ranges, RangeId id) {
  return !ranges.is(id, Ranges::kMark) && !ranges.is(id, Ranges::kStartEnd) &&
         ranges.end[id.value] > ranges.start[id.value];
}

/// `range` or the first one around it that is still open at `t`.
RangeId still_open(const Ranges& ranges, RangeId range, TimeNs t) {
  while (range.valid() && ranges.end[range.value] <= t) range = ranges.parent[range.value];
  return range;
}

/// How far back a call that is still open is looked for: calls nest one or two deep.
constexpr std::size_t kCallsBack = 8;

}  // namespace

RangeId HostActivity::open_range(std::span<const RangeId> rows, std::size_t next, TimeNs t) const {
  // The last range that began is the innermost, or lies inside it: then one of its ancestors is.
  while (next > 0 && !takes_time(trace_.ranges, rows[next - 1])) --next;
  return next == 0 ? RangeId::none() : still_open(trace_.ranges, rows[next - 1], t);
}

void HostActivity::in(ThreadId thread, Interval window, std::vector<Activity>& out) {
  if (window.empty()) return;
  const Ranges& ranges = trace_.ranges;
  const Calls& calls = trace_.calls;
  auto range_rows = trace_.ranges_of_thread[thread];
  auto call_rows = trace_.calls_of_thread[thread];
  Place& place = places_[thread.value];
  place.range = first_after(range_rows, ranges.start, window.begin, place.range);
  place.call = first_after(call_rows, calls.start, window.begin, place.call);
  std::size_t next_range = place.range;
  std::size_t next_call = place.call;
  RangeId range = open_range(range_rows, next_range, window.begin);
  open_calls_.clear();
  for (std::size_t i = next_call - std::min(next_call, kCallsBack); i < next_call; ++i) {
    if (calls.end[call_rows[i].value] > window.begin) open_calls_.push_back(call_rows[i]);
  }
  for (TimeNs now = window.begin; now < window.end;) {
    // Outer calls are below inner ones, but may end first when they do not nest.
    while (!open_calls_.empty() && calls.end[open_calls_.back().value] <= now)
      open_calls_.pop_back();
    range = still_open(ranges, range, now);
    while (next_range < range_rows.size() && ranges.start[range_rows[next_range].value] <= now) {
      if (takes_time(ranges, range_rows[next_range])) range = range_rows[next_range];
      ++next_range;
    }
    range = still_open(ranges, range, now);
    while (next_call < call_rows.size() && calls.start[call_rows[next_call].value] <= now) {
      if (calls.end[call_rows[next_call].value] > now) open_calls_.push_back(call_rows[next_call]);
      ++next_call;
    }
    TimeNs until = window.end;
    if (next_range < range_rows.size())
      until = std::min(until, ranges.start[range_rows[next_range].value]);
    if (next_call < call_rows.size())
      until = std::min(until, calls.start[call_rows[next_call].value]);
    if (range.valid()) until = std::min(until, ranges.end[range.value]);
    EventRef event = range.valid() ? EventRef::of(range) : EventRef{};
    if (!open_calls_.empty()) {
      CallId call = open_calls_.back();
      until = std::min(until, calls.end[call.value]);
      if (!range.valid() || calls.start[call.value] >= ranges.start[range.value])
        event = EventRef::of(call);
    }
    if (event.kind != EventRef::Kind::kNone) {
      if (!out.empty() && out.back().event == event && out.back().interval.end == now &&
          out.back().range == range) {
        out.back().interval.end = until;
      } else {
        out.push_back({{now, until}, event, range});
      }
    }
    now = until;
  }
}

}  // namespace headway::analyzer
