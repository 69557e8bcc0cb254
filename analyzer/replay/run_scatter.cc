// SPDX-License-Identifier: MIT
#include "analyzer/replay/run_scatter.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "common/statistics.h"

namespace headway::analyzer {

std::vector<double> scheduled_times(const RangeNames& names, const Steps& steps,
                                    const std::vector<DevicePartition>& partitions) {
  std::vector<double> times(steps.all.size());
  for (const DevicePartition& partition : partitions) {
    for (const DeviceStep& step : partition.steps) {
      if (step.step >= times.size()) continue;
      double time = 0;
      for (std::uint32_t i = 0; i < step.segment_count; ++i) {
        const Segment& segment = partition.segments[step.first_segment + i];
        if (segment.time_class == TimeClass::kBetweenSteps &&
            segment.cause.kind == EventRef::Kind::kRange &&
            is_on_schedule(names[trace::RangeId{segment.cause.index}].between))
          time += static_cast<double>(segment.interval.length().ns);
      }
      times[step.step] = std::max(times[step.step], time);
    }
  }
  return times;
}

Bounds bootstrap_mean(std::span<const double> values, std::span<const double> scheduled,
                      const BlockPlan& plan) {
  /// One occasion differs by at least this share from run to run; the recording may have too few to tell.
  constexpr double kLeastScatter = 0.1;
  constexpr double kQuantile = 1.96;
  std::vector<double> occasions;
  for (const double time : scheduled)
    if (time > 0) occasions.push_back(time);
  if (occasions.empty()) return bootstrap_mean(values, plan);
  std::vector<double> others(values.begin(), values.end());
  for (std::size_t i = 0; i < others.size(); ++i) others[i] -= scheduled[i];
  // Blocks are planned anew: where the occasions lie says nothing about the rest.
  const Bounds rest = bootstrap_mean(others, plan_blocks(others));
  const double each = mean(occasions);
  double squares = 0;
  for (const double time : occasions) squares += (time - each) * (time - each);
  const auto count = static_cast<double>(occasions.size());
  const double scatter =
      std::max(kQuantile * std::sqrt(squares / std::max(1.0, count - 1)), kLeastScatter * each);
  const double reach = scatter * std::sqrt(count) / static_cast<double>(values.size());
  const double middle = mean(values);
  const double other = mean(others);
  return {middle - std::hypot(other - rest.low, reach),
          middle + std::hypot(rest.high - other, reach)};
}

}  // namespace headway::analyzer
