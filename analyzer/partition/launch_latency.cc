// SPDX-License-Identifier: MIT
#include "analyzer/partition/launch_latency.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headway::analyzer {
namespace {

using namespace trace;

/// Enough for a p95 that means something.
constexpr std::size_t kMinSamples = 20;

// Used when a trace has too few samples: CUDA launches take 5-20 µs on current drivers, a thread of
// the host device is woken in 50-200 µs on a virtual machine.
constexpr DeviceLatencies kCudaDefaults = {{20'000}, {5'000}};
constexpr DeviceLatencies kHostDefaults = {{200'000}, {200'000}};

/// The 95th percentile, interpolated as percentile_sorted() does, in linear time.
DurationNs p95_or(std::vector<std::int64_t>& samples, DurationNs fallback) {
  if (samples.size() < kMinSamples) return fallback;
  double position = 0.95 * static_cast<double>(samples.size() - 1);
  auto low = samples.begin() + static_cast<std::ptrdiff_t>(position);
  std::nth_element(samples.begin(), low, samples.end());
  std::int64_t above = low + 1 == samples.end() ? *low : *std::min_element(low + 1, samples.end());
  double share = position - std::floor(position);
  return {*low + static_cast<std::int64_t>(share * static_cast<double>(above - *low))};
}

}  // namespace

DeviceLatencies measure_latencies(const GapFacts& facts, const DeviceWork& work) {
  const Trace& trace = facts.trace;
  const DeviceOps& ops = trace.device_ops;
  bool cuda = trace.devices[work.device.value].type == DeviceType::kCuda;
  DeviceLatencies result = cuda ? kCudaDefaults : kHostDefaults;
  std::vector<std::int64_t> launch;
  for (DeviceOpId op : work.ops) {
    if (!ops.call[op.value].valid()) continue;
    TimeNs launched = trace.calls.start[ops.call[op.value].value];
    DeviceOpId before = facts.previous(op);
    bool empty = !before.valid() || ops.end[before.value] <= launched;
    if (empty && ops.start[op.value] >= launched)
      launch.push_back((ops.start[op.value] - launched).ns);
  }
  result.launch = p95_or(launch, result.launch);
  std::vector<std::int64_t> frontend;
  for (DeviceOpId op : work.ops) {
    DeviceOpId before = facts.previous(op);
    if (!before.valid() || !ops.call[op.value].valid()) continue;
    TimeNs ready = trace.calls.start[ops.call[op.value].value] + result.launch;
    if (ready <= ops.end[before.value] && ops.start[op.value] >= ops.end[before.value])
      frontend.push_back((ops.start[op.value] - ops.end[before.value]).ns);
  }
  result.frontend = p95_or(frontend, result.frontend);
  return result;
}

}  // namespace headway::analyzer
