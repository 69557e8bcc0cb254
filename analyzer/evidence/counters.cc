// SPDX-License-Identifier: MIT
#include "analyzer/evidence/counters.h"

#include <algorithm>

#include "analyzer/partition/steady_ops.h"

namespace headway::analyzer::counters {

const trace::CounterSeries* find(const trace::Trace& trace, std::string_view name,
                                 std::optional<trace::DeviceId> device) {
  for (const trace::CounterSeries& series : trace.counters) {
    if (series.name != name) continue;
    if (!device || series.device == trace.devices[device->value].ordinal) return &series;
  }
  return nullptr;
}

Summary summarise(const trace::CounterSeries& series, Interval window) {
  Summary summary;
  for (std::size_t i = 0; i < series.time.size(); ++i) {
    if (!window.contains(series.time[i])) continue;
    double value = series.value[i];
    summary.low = summary.count ? std::min(summary.low, value) : value;
    summary.high = summary.count ? std::max(summary.high, value) : value;
    summary.mean += value;
    ++summary.count;
  }
  if (summary.count) summary.mean /= static_cast<double>(summary.count);
  return summary;
}

Interval steady_window(const RuleContext& context) {
  if (context.steps.steady.empty()) return {TimeNs{0}, TimeNs{context.trace.end.ns + 1}};
  Interval window{TimeNs::max(), TimeNs::min()};
  // The host may be far ahead of the device.
  for (const DevicePartition& device : context.partitions) {
    for (const DeviceStep& step : device.steps) {
      if (!counts(context.steps, step)) continue;
      window.begin = std::min(window.begin, step.interval.begin);
      window.end = std::max(window.end, step.interval.end);
    }
  }
  for (std::uint32_t index : context.steps.steady) {
    window.begin = std::min(window.begin, context.steps.all[index].host.begin);
    window.end = std::max(window.end, context.steps.all[index].host.end);
  }
  return window;
}

std::optional<Summary> steady(const RuleContext& context, std::string_view name,
                              std::optional<trace::DeviceId> device) {
  const trace::CounterSeries* series = find(context.trace, name, device);
  if (!series) return std::nullopt;
  Summary summary = summarise(*series, steady_window(context));
  return summary.count ? std::optional(summary) : std::nullopt;
}

double memory_peak(const trace::Trace& trace, trace::DeviceId device) {
  const trace::CounterSeries* used = find(trace, kGpuMemoryUsed, device);
  if (!used) used = find(trace, kMemoryReserved, device);
  return used ? summarise(*used, {TimeNs::min(), TimeNs::max()}).high : 0;
}

}  // namespace headway::analyzer::counters
