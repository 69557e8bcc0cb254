// SPDX-License-Identifier: MIT
#include "analyzer/graph/assumptions.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/format.h"

namespace headway::analyzer {
namespace {

void add(std::string_view id, std::string_view label, const Delay& delay, DurationNs value,
         std::int32_t device, std::vector<Assumption>& all) {
  if (delay.origin == FactOrigin::kRecording) return;
  auto same = std::ranges::find_if(all, [&](const Assumption& one) {
    return one.delay == id && one.value == value && one.source == delay.source &&
           one.seen == delay.seen;
  });
  if (same == all.end())
    same = all.insert(all.end(), {id, label, value, delay.origin, delay.source, delay.seen, {}});
  if (device >= 0) same->devices.push_back(device);
}

}  // namespace

std::vector<Assumption> assumptions_of(const DependencyGraph& graph) {
  const trace::Trace& trace = graph.trace();
  const Calibration& calibration = graph.calibration();
  auto has = [&](EdgeKind kind) { return graph.count(kind).edges > 0; };
  std::vector<bool> used(trace.devices.size());
  for (std::uint32_t s = 0; s < trace.streams.size(); ++s)
    if (!trace.ops_of_stream[trace::StreamId{s}].empty())
      used[trace.streams[s].device.value] = true;
  std::vector<Assumption> all;
  auto each = [&](bool wanted, std::string_view id, std::string_view label, auto&& delay_of,
                  auto&& value_of) {
    for (std::size_t d = 0; wanted && d < used.size(); ++d) {
      if (!used[d]) continue;
      const Delay& delay = delay_of(calibration.devices[d]);
      add(id, label, delay, value_of(delay), trace.devices[d].ordinal, all);
    }
  };
  auto least = [](const Delay& delay) { return delay.p5; };
  auto median = [](const Delay& delay) { return delay.p50; };
  each(
      has(EdgeKind::kLaunch), "launch", "launch latency",
      [](const DeviceDelays& d) -> const Delay& { return d.launch; }, least);
  each(
      has(EdgeKind::kGraphLaunch), "graph_launch", "launch latency of a CUDA graph",
      [](const DeviceDelays& d) -> const Delay& { return d.graph_launch; }, least);
  each(
      has(EdgeKind::kStreamOrder), "kernel_gap", "kernel gap",
      [](const DeviceDelays& d) -> const Delay& { return d.stream; }, median);
  each(
      has(EdgeKind::kHostSync), "sync", "wake-up of a waiting call",
      [](const DeviceDelays& d) -> const Delay& { return d.sync; }, median);
  if (calibration.blocking_call_used)
    add("blocking_call", "blocking call without a wait", calibration.blocking_call,
        calibration.blocking_call.p50, -1, all);
  if (has(EdgeKind::kBatch))
    add("batch", "handover of a batch", calibration.batch, calibration.batch.p50, -1, all);
  return all;
}

std::string to_text(const Assumption& one) {
  return fmt::format("{} {}: {}; {}", one.label, format_duration(one.value), one.source,
                     one.seen == 0   ? "not in this recording"
                     : one.seen == 1 ? "only once in this recording"
                                     : fmt::format("only {} times in this recording", one.seen));
}

}  // namespace headway::analyzer
