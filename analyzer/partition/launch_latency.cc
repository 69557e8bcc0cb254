// SPDX-License-Identifier: MIT
#include "analyzer/partition/launch_latency.h"

#include <algorithm>
#include <vector>

namespace headway::analyzer {
namespace {

using namespace trace;

/// Enough for a p95 that means something.
constexpr std::size_t kMinSamples = 20;

// Used when a trace has too few samples: CUDA launches take 5-20 µs on current drivers, a blocked
// thread is woken in up to 50 µs, one of the host device in 50-200 µs on a virtual machine.
constexpr DeviceLatencies kCudaDefaults = {{20'000}, {5'000}, {50'000}};
constexpr DeviceLatencies kHostDefaults = {{200'000}, {200'000}, {200'000}};

/// A latency above this many medians waited for something that the trace does not show. On CUDA so did one
/// above this many times the default, where all of few launches are late.
constexpr std::int64_t kOutlier = 5;

/// The 95th percentile, capped where outliers begin: with few samples the percentile is itself an
/// outlier. Linear time.
DurationNs p95_or(std::vector<std::int64_t>& samples, DurationNs fallback) {
  if (samples.size() < kMinSamples) return fallback;
  auto at = [&](double p) {
    auto nth =
        samples.begin() + static_cast<std::ptrdiff_t>(p * static_cast<double>(samples.size() - 1));
    std::nth_element(samples.begin(), nth, samples.end());
    return DurationNs{*nth};
  };
  return std::min(at(0.95), at(0.5) * kOutlier);
}

/// From the end of the op that ended last in the call to the return of the call.
DurationNs measure_sync(const GapFacts& facts, const DeviceWork& work, DurationNs fallback) {
  const Trace& trace = facts.trace;
  const DeviceOps& ops = trace.device_ops;
  std::vector<std::int64_t> samples;
  for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
    if (!only_waits(trace.calls.kind[c])) continue;
    auto after = std::partition_point(work.ops.begin(), work.ops.end(), [&](DeviceOpId op) {
      return ops.start[op.value] < trace.calls.end[c];
    });
    if (after == work.ops.begin()) continue;
    TimeNs ended = ops.end[(after - 1)->value];
    if (ended > trace.calls.start[c] && ended <= trace.calls.end[c])
      samples.push_back((trace.calls.end[c] - ended).ns);
  }
  return p95_or(samples, fallback);
}

}  // namespace

DeviceLatencies measure_latencies(const GapFacts& facts, const DeviceWork& work) {
  const Trace& trace = facts.trace;
  const DeviceOps& ops = trace.device_ops;
  const bool cuda = trace.devices[work.device.value].type == DeviceType::kCuda;
  DeviceLatencies result = cuda ? kCudaDefaults : kHostDefaults;
  auto plausible = [&](DurationNs measured, DurationNs usual) {
    return cuda ? std::min(measured, usual * kOutlier) : measured;
  };
  std::vector<std::int64_t> launch;
  for (DeviceOpId op : work.ops) {
    if (!ops.call[op.value].valid()) continue;
    TimeNs launched = trace.calls.start[ops.call[op.value].value];
    DeviceOpId before = facts.previous(op);
    bool empty = !before.valid() || ops.end[before.value] <= launched;
    if (empty && ops.start[op.value] >= launched)
      launch.push_back((ops.start[op.value] - launched).ns);
  }
  result.launch = plausible(p95_or(launch, result.launch), result.launch);
  std::vector<std::int64_t> frontend;
  for (DeviceOpId op : work.ops) {
    DeviceOpId before = facts.previous(op);
    if (!before.valid() || !ops.call[op.value].valid()) continue;
    TimeNs ready = trace.calls.start[ops.call[op.value].value] + result.launch;
    if (ready <= ops.end[before.value] && ops.start[op.value] >= ops.end[before.value])
      frontend.push_back((ops.start[op.value] - ops.end[before.value]).ns);
  }
  result.frontend = plausible(p95_or(frontend, result.frontend), result.frontend);
  result.sync = plausible(measure_sync(facts, work, result.sync), result.sync);
  return result;
}

}  // namespace headway::analyzer
