// SPDX-License-Identifier: MIT
#include "analyzer/partition/launch_latency.h"

#include <algorithm>

#include "common/statistics.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Enough for a p95 that means something.
constexpr std::size_t kMinSamples = 20;

// Used when a trace has too few samples: CUDA launches take 5-20 µs on current drivers, a thread of
// the host device is woken in 50-200 µs on a virtual machine.
constexpr DeviceLatencies kCudaDefaults = {{20'000}, {5'000}};
constexpr DeviceLatencies kHostDefaults = {{200'000}, {200'000}};

DurationNs p95_or(std::vector<double>& samples, DurationNs fallback) {
  if (samples.size() < kMinSamples) return fallback;
  std::sort(samples.begin(), samples.end());
  return {static_cast<std::int64_t>(percentile_sorted(samples, 0.95))};
}

}  // namespace

DeviceLatencies measure_latencies(const Trace& trace, const DeviceWork& work,
                                  const std::vector<DeviceOpId>& previous) {
  const DeviceOps& ops = trace.device_ops;
  bool cuda = trace.devices[work.device.value].type == DeviceType::kCuda;
  DeviceLatencies result = cuda ? kCudaDefaults : kHostDefaults;
  std::vector<double> launch;
  for (DeviceOpId op : work.ops) {
    if (!ops.call[op.value].valid()) continue;
    TimeNs launched = trace.calls.start[ops.call[op.value].value];
    DeviceOpId before = previous[op.value];
    bool empty = !before.valid() || ops.end[before.value] <= launched;
    if (empty && ops.start[op.value] >= launched)
      launch.push_back(static_cast<double>((ops.start[op.value] - launched).ns));
  }
  result.launch = p95_or(launch, result.launch);
  std::vector<double> frontend;
  for (DeviceOpId op : work.ops) {
    DeviceOpId before = previous[op.value];
    if (!before.valid() || !ops.call[op.value].valid()) continue;
    TimeNs ready = trace.calls.start[ops.call[op.value].value] + result.launch;
    if (ready <= ops.end[before.value] && ops.start[op.value] >= ops.end[before.value]) {
      frontend.push_back(static_cast<double>((ops.start[op.value] - ops.end[before.value]).ns));
    }
  }
  result.frontend = p95_or(frontend, result.frontend);
  return result;
}

}  // namespace headway::analyzer
