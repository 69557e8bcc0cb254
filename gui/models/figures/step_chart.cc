// SPDX-License-Identifier: MIT
#include "gui/models/figures/step_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/statistics.h"
#include "gui/models/text/display_text.h"

namespace headway::gui {
namespace {

void finish(StepChart& chart) {
  std::vector<double> steady;
  DurationNs longest;
  DurationNs longest_steady;
  for (const StepBar& bar : chart.bars) {
    longest = std::max(longest, bar.length());
    if (!bar.steady) continue;
    steady.push_back(static_cast<double>(bar.length().ns));
    longest_steady = std::max(longest_steady, bar.length());
  }
  chart.median = {static_cast<std::int64_t>(median(steady))};
  chart.axis_max = longest;
  // One very long step (warm-up, a checkpoint) is cut so that the others can be compared.
  DurationNs reach = std::max(chart.median * 3, DurationNs{1});
  if (!steady.empty() && longest > reach * 2) chart.axis_max = reach;
  for (const analyzer::TimeClassInfo& info : analyzer::time_classes()) {
    bool used = std::any_of(chart.bars.begin(), chart.bars.end(),
                            [&](const StepBar& bar) { return bar.times[info.time_class].ns > 0; });
    if (used) chart.classes.push_back(info.time_class);
  }
  chart.has_classes = !chart.classes.empty();
}

}  // namespace

std::vector<StepChart::Slot> StepChart::spread(std::uint32_t first, std::uint32_t last,
                                               std::uint32_t places) const {
  std::vector<Slot> result;
  last = std::min(last, static_cast<std::uint32_t>(bars.size()));
  if (first >= last || places == 0) return result;
  std::uint64_t total = last - first;
  std::uint64_t count = std::min<std::uint64_t>(places, total);
  for (std::uint64_t place = 0; place < count; ++place) {
    Slot slot;
    slot.first = first + static_cast<std::uint32_t>(place * total / count);
    slot.last = first + static_cast<std::uint32_t>((place + 1) * total / count);
    slot.slowest = slot.first;
    for (std::uint32_t i = slot.first; i < slot.last; ++i) {
      if (bars[i].length() > bars[slot.slowest].length()) slot.slowest = i;
    }
    result.push_back(slot);
  }
  return result;
}

std::vector<StepChart> make_step_charts(const trace::Trace& trace,
                                        const analyzer::Analysis& analysis) {
  std::vector<StepChart> charts;
  const std::vector<analyzer::Step>& steps = analysis.steps.all;
  for (const analyzer::DevicePartition& partition : analysis.partitions) {
    StepChart chart;
    if (partition.device.valid()) {
      const trace::Device& device = trace.devices[partition.device.value];
      chart.title = fmt::format("Device {}{}{}", device.ordinal, device.name.empty() ? "" : " · ",
                                display_text(device.name, 60));
    } else {
      chart.title = display_text(analyzer::partition_label(trace, partition), 60);
    }
    for (const analyzer::DeviceStep& step : partition.steps) {
      if (step.step >= steps.size()) continue;
      chart.bars.push_back(
          {step.step, steps[step.step].number, steps[step.step].steady, step.interval, step.times});
    }
    if (chart.bars.empty()) continue;
    finish(chart);
    charts.push_back(std::move(chart));
  }
  if (charts.empty() && !steps.empty()) {
    StepChart chart;
    chart.title = "Host";
    for (std::uint32_t i = 0; i < steps.size(); ++i)
      chart.bars.push_back({i, steps[i].number, steps[i].steady, steps[i].host, {}});
    finish(chart);
    charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace headway::gui
