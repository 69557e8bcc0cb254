// SPDX-License-Identifier: MIT
#include "analyzer/whatif/sample.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "trace/subset.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// About so many events are replayed of a long recording: 0.2 s for its analysis, its graph and all
/// fixes.
constexpr std::size_t kSampled = 100'000;
/// Steps before the first and after the last one that is judged, at least: find_steps() leaves out those at
/// the ends.
constexpr std::size_t kBefore = 2;
constexpr std::size_t kAfter = 1;

/// Steps in a row, as indexes into Steps::all.
struct Window {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Of the steady steps of the main thread, by their length on the host.
Window typical_window(const Steps& steps, std::size_t most) {
  double mean = 0;
  for (const std::uint32_t i : steps.steady)
    mean += static_cast<double>(steps.all[i].host.length().ns);
  mean /= static_cast<double>(steps.steady.size());
  Window best;
  double least = 0;
  for (std::size_t first = steps.steady.front(); first <= steps.steady.back(); ++first) {
    const std::size_t end = std::min(first + most, std::size_t{steps.steady.back()} + 1);
    if (best.count > 0 && end - first < best.count) break;
    double sum = 0;
    for (std::size_t i = first; i < end; ++i)
      sum += static_cast<double>(steps.all[i].host.length().ns);
    const double off = std::abs(sum / static_cast<double>(end - first) - mean);
    if (best.count > 0 && off >= least) continue;
    best = {first, end - first};
    least = off;
  }
  return best;
}

/// So many steps the host is ahead of the device when it begins one.
std::size_t run_ahead(const Analysis& analysis) {
  std::size_t most = 0;
  for (const DevicePartition& partition : analysis.partitions) {
    const std::vector<DeviceStep>& steps = partition.steps;
    for (std::size_t i = 0; partition.device.valid() && i < steps.size(); ++i) {
      const TimeNs begin = analysis.steps.all[steps[i].step].host.begin;
      std::size_t behind = 0;
      while (behind < i && steps[i - behind - 1].interval.end > begin) ++behind;
      most = std::max(most, behind);
    }
  }
  return most;
}

/// Events that overlap the window; `ends` of a table that is sorted by start.
std::vector<std::uint32_t> overlapping(const std::vector<TimeNs>& starts,
                                       const std::vector<TimeNs>& ends, Interval window) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < starts.size() && starts[i] < window.end; ++i)
    if (ends[i] > window.begin || starts[i] >= window.begin) rows.push_back(i);
  return rows;
}

}  // namespace

std::unique_ptr<Sample> take_sample(const Trace& trace, const Analysis& analysis,
                                    std::size_t replayed_whole) {
  const Steps& steps = analysis.steps;
  if (trace.event_count() <= replayed_whole || steps.steady.empty()) return nullptr;
  const std::size_t each = std::max<std::size_t>(1, trace.event_count() / steps.all.size());
  const std::size_t most = std::max<std::size_t>(1, kSampled / each);
  const Window judged = typical_window(steps, most);
  // A host that runs ahead waits for steps before the sample as long as recorded, whatever is replayed, and the device, once
  // it is faster, waits for the host in the step after those.
  const std::size_t before = std::clamp(run_ahead(analysis) + 1, kBefore, kBefore + most);
  const std::size_t first = judged.first - std::min(judged.first, before);
  const std::size_t last = std::min(judged.first + judged.count - 1 + kAfter, steps.all.size() - 1);
  Interval window = {steps.all[first].host.begin, steps.all[last].host.end};
  for (const DevicePartition& partition : analysis.partitions) {
    for (const DeviceStep& step : partition.steps)
      if (step.step >= first && step.step <= last)
        window.end = std::max(window.end, step.interval.end);
  }
  KeptRows kept;
  kept.ranges = overlapping(trace.ranges.start, trace.ranges.end, window);
  kept.calls = overlapping(trace.calls.start, trace.calls.end, window);
  kept.device_ops = overlapping(trace.device_ops.start, trace.device_ops.end, window);
  kept.io = overlapping(trace.io.start, trace.io.end, window);
  auto sample = std::make_unique<Sample>();
  sample->trace = take_rows(trace, kept);
  for (const Overhead& overhead : trace.overheads)
    if (!intersect(overhead.interval, window).empty()) sample->trace.overheads.push_back(overhead);
  AnalysisOptions options;
  options.steps.range = analysis.step_options.range;
  options.steps.skip = static_cast<int>(judged.first - first);
  sample->analysis = analyze(sample->trace, options);
  sample->analysis.job = analysis.job;
  return sample;
}

}  // namespace headway::analyzer
