// SPDX-License-Identifier: MIT
#include "analyzer/evidence/step_trend.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>

#include "analyzer/partition/steady_ops.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

/// Largest median deviation of the parts from the line, as a fraction of the growth.
constexpr double kScatter = 1.0 / 8;
/// Smallest growth that counts, as a fraction of the early step.
constexpr double kLeast = 0.05;
/// This many of the eleven differences between neighbours must be positive. By
/// chance one run in 80 has ten.
constexpr int kRising = 9;

using Parts = std::array<double, kTrendParts>;

Parts parts_of(const std::vector<double>& lengths) {
  Parts parts{};
  for (std::size_t p = 0; p < kTrendParts; ++p) {
    const std::size_t begin = p * lengths.size() / kTrendParts;
    const std::size_t end = (p + 1) * lengths.size() / kTrendParts;
    parts[p] = median(std::span(lengths).subspan(begin, end - begin));
  }
  return parts;
}

/// True for a steady rise: a Theil–Sen slope that is large enough, without a single jump.
bool rises(const Parts& parts) {
  std::vector<double> slopes;
  for (std::size_t a = 0; a < kTrendParts; ++a)
    for (std::size_t b = a + 1; b < kTrendParts; ++b)
      slopes.push_back((parts[b] - parts[a]) / static_cast<double>(b - a));
  const double slope = median(slopes);
  const double growth = slope * static_cast<double>(kTrendParts);
  if (growth < kLeast * parts.front()) return false;
  int rising = 0;
  double largest = 0;
  for (std::size_t p = 1; p < kTrendParts; ++p) {
    rising += parts[p] > parts[p - 1];
    largest = std::max(largest, parts[p] - parts[p - 1]);
  }
  std::vector<double> off_line;
  for (std::size_t p = 0; p < kTrendParts; ++p)
    off_line.push_back(parts[p] - slope * static_cast<double>(p));
  return rising >= kRising && largest < growth / 2 &&
         median_absolute_deviation(off_line) <= kScatter * growth;
}

struct Quarter {
  ClassTimes times;                          ///< medians
  std::map<std::string_view, double> names;  ///< mean time per step, for one class
};

Quarter quarter_of(const RuleContext& context, const DevicePartition& partition, bool last,
                   TimeClass of_names) {
  std::vector<const DeviceStep*> steps;
  for (const DeviceStep& step : partition.steps)
    if (counts(context.steps, step)) steps.push_back(&step);
  const std::size_t size = std::max<std::size_t>(1, steps.size() / 4);
  const auto own = std::span(steps).subspan(last ? steps.size() - size : 0, size);
  Quarter quarter;
  for (const TimeClassInfo& one : time_classes()) {
    std::vector<double> times;
    for (const DeviceStep* step : own)
      times.push_back(static_cast<double>(step->times[one.time_class].ns));
    quarter.times[one.time_class] = {std::llround(median(times))};
  }
  for (const DeviceStep* step : own) {
    for (std::uint32_t i = 0; i < step->segment_count; ++i) {
      const Segment& segment = partition.segments[step->first_segment + i];
      if (segment.time_class != of_names || segment.cause.kind == EventRef::Kind::kNone) continue;
      quarter.names[name_of(context.trace, segment.cause)] +=
          static_cast<double>(segment.interval.length().ns) / static_cast<double>(size);
    }
  }
  return quarter;
}

}  // namespace

std::vector<double> lengths_of(const RuleContext& context, const DevicePartition& partition) {
  std::vector<double> lengths;
  for (const DeviceStep& step : partition.steps)
    if (counts(context.steps, step))
      lengths.push_back(static_cast<double>(step.interval.length().ns));
  return lengths;
}

StepTrend find_step_trend(const RuleContext& context) {
  StepTrend worst;
  for (const DevicePartition& one : context.partitions) {
    const std::vector<double> lengths = lengths_of(context, one);
    if (lengths.size() < kTrendSteps) continue;
    if (!worst.partition) worst.partition = &one;
    const Parts parts = parts_of(lengths);
    if (!rises(parts)) continue;
    double beyond = 0;
    for (const double part : parts) beyond += std::max(0.0, part - parts.front()) / kTrendParts;
    if (std::llround(beyond) <= worst.per_step.ns) continue;
    worst = {
        &one, {std::llround(parts.front())}, {std::llround(parts.back())}, {std::llround(beyond)}};
  }
  return worst;
}

Grown what_grew(const RuleContext& context, const DevicePartition& partition) {
  const Quarter early = quarter_of(context, partition, false, TimeClass::kCount_);
  const Quarter late = quarter_of(context, partition, true, TimeClass::kCount_);
  Grown grown;
  for (const TimeClassInfo& one : time_classes()) {
    const DurationNs by = late.times[one.time_class] - early.times[one.time_class];
    if (by <= grown.by) continue;
    grown.by = by;
    grown.time_class = one.time_class;
  }
  const Quarter before = quarter_of(context, partition, false, grown.time_class);
  double most = 0;
  for (const auto& [name, time] : quarter_of(context, partition, true, grown.time_class).names) {
    const auto was = before.names.find(name);
    const double by = time - (was == before.names.end() ? 0 : was->second);
    if (by <= most) continue;
    most = by;
    grown.name = name;
  }
  grown.share = grown.by.ns > 0 ? std::min(1.0, most / static_cast<double>(grown.by.ns)) : 0;
  if (grown.share < 0.5) grown.name = {};
  return grown;
}

std::vector<std::vector<trace::DeviceOpId>> kernels_of_steps(const RuleContext& context,
                                                             const DevicePartition& partition) {
  using Kernels = std::vector<trace::DeviceOpId>;
  std::vector<Kernels> steps;
  const DeviceStep* current = nullptr;
  for_each_steady_op(context.trace, context.steps, partition,
                     [&](const DeviceStep& step, trace::DeviceOpId op) {
                       if (context.trace.device_ops.kind[op.value] != trace::DeviceOpKind::kKernel)
                         return;
                       if (&step != current) steps.emplace_back();
                       current = &step;
                       steps.back().push_back(op);
                     });
  std::map<std::size_t, std::size_t> count;
  for (const Kernels& step : steps) ++count[step.size()];
  const auto usual = std::ranges::max_element(
      count, [](const auto& a, const auto& b) { return a.second < b.second; });
  if (usual != count.end())
    std::erase_if(steps, [&](const Kernels& step) { return step.size() != usual->first; });
  return steps;
}

}  // namespace headway::analyzer
