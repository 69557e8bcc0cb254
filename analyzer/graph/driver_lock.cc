// SPDX-License-Identifier: MIT
// D9: the driver lets one call of a process in at a time. Where calls of several threads overlap and
// one takes much longer than calls of its name do, it waited for the one that ended before it.
#include <algorithm>

#include "analyzer/graph/edges.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// A call waited when it took this many times the median of its name.
constexpr std::int64_t kSlow = 2;
/// The most calls of a process inside the driver at once that are considered.
constexpr std::size_t kInside = 16;

bool takes_lock(DeviceCallKind kind) {
  switch (kind) {
    case DeviceCallKind::kLaunch:
    case DeviceCallKind::kGraphLaunch:
    case DeviceCallKind::kCopy:
    case DeviceCallKind::kMemset:
    case DeviceCallKind::kAllocate:
    case DeviceCallKind::kFree:
      return true;
    default:
      return false;
  }
}

}  // namespace

void add_driver_locks(EdgeSink& sink) {
  const Points& points = sink.points;
  const Trace& trace = points.trace();
  const Calls& calls = trace.calls;
  // Overlapping pairs are rare: medians are taken for the names that need one.
  std::vector<std::int64_t> median_of_name(trace.strings.size(), -1);
  auto median_of = [&](StringId name) {
    std::int64_t& median = median_of_name[name.value];
    if (median >= 0) return median;
    std::vector<std::int64_t> durations;
    for (std::size_t c = 0; c < calls.size(); ++c) {
      if (calls.name[c] == name) durations.push_back((calls.end[c] - calls.start[c]).ns);
    }
    auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
    std::nth_element(durations.begin(), middle, durations.end());
    return median = *middle;
  };
  std::vector<std::vector<CallId>> inside_of(trace.processes.size());  // perhaps in the driver
  for (std::uint32_t c = 0; c < calls.size(); ++c) {
    if (!takes_lock(calls.kind[c])) continue;
    ProcessId process = trace.threads[calls.thread[c].value].process;
    std::vector<CallId>& inside = inside_of[process.value];
    std::erase_if(inside, [&](CallId other) { return calls.end[other.value] <= calls.start[c]; });
    CallId last;
    for (CallId other : inside) {
      if (calls.thread[other.value] == calls.thread[c]) continue;
      if (calls.end[other.value] >= calls.end[c]) continue;
      if (!last.valid() || calls.end[other.value] > calls.end[last.value]) last = other;
    }
    if (last.valid() && (calls.end[c] - calls.start[c]).ns > kSlow * median_of(calls.name[c])) {
      sink.add(end_of(points.task(last)), end_of(points.task(CallId{c})), EdgeKind::kDriverLock,
               true);
    }
    if (inside.size() < kInside) inside.push_back(CallId{c});
  }
}

}  // namespace headway::analyzer
