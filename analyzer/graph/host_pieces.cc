// SPDX-License-Identifier: MIT
#include "analyzer/graph/host_pieces.h"

#include <algorithm>

#include "analyzer/attribution/attribution.h"

namespace headway::analyzer {

using namespace trace;

std::vector<HostPiece> host_pieces(const Trace& trace, ThreadId thread, Interval window) {
  std::vector<HostPiece> pieces;
  if (window.empty()) return pieces;
  const Ranges& ranges = trace.ranges;
  std::vector<RangeId> open;
  for (RangeId r = innermost_range(trace, thread, window.begin); r.valid();
       r = ranges.parent[r.value]) {
    if (!ranges.is(r, Ranges::kStartEnd) && ranges.end[r.value] > window.begin) open.push_back(r);
  }
  std::reverse(open.begin(), open.end());
  TimeNs now = window.begin;
  auto emit = [&](TimeNs to) {
    to = std::min(to, window.end);
    if (to <= now) return;
    RangeId range = open.empty() ? RangeId::none() : open.back();
    if (!pieces.empty() && pieces.back().range == range) {
      pieces.back().interval.end = to;
    } else {
      pieces.push_back({{now, to}, range});
    }
    now = to;
  };
  auto close_until = [&](TimeNs t) {
    while (!open.empty() && ranges.end[open.back().value] <= t) {
      emit(ranges.end[open.back().value]);
      open.pop_back();
    }
  };
  auto rows = trace.ranges_of_thread[thread];
  auto next = std::partition_point(
      rows.begin(), rows.end(), [&](RangeId r) { return ranges.start[r.value] <= window.begin; });
  for (; next != rows.end() && ranges.start[next->value] < window.end; ++next) {
    if (ranges.is(*next, Ranges::kMark) || ranges.is(*next, Ranges::kStartEnd)) continue;
    close_until(ranges.start[next->value]);
    emit(ranges.start[next->value]);
    open.push_back(*next);
  }
  close_until(window.end);
  emit(window.end);
  return pieces;
}

}  // namespace headway::analyzer
