// SPDX-License-Identifier: MIT
#include "analyzer/graph/calibration.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace headway::analyzer {
namespace {

using namespace trace;

/// Enough for a 5th percentile that means something.
constexpr std::size_t kMinSamples = 20;

// Used when a trace has too few samples. CUDA: 4-6 µs from launch to start on an idle GPU and 1-1.5
// µs between kernels of a stream (A100, H100, CUDA 12). Threads of the host device are woken in
// 50-200 µs on a virtual machine.
constexpr DurationNs kCudaLaunch{5'000};
constexpr DurationNs kCudaStream{1'300};
constexpr DurationNs kHostLaunch{100'000};
constexpr DurationNs kHostStream{0};

struct Samples {
  std::vector<std::int64_t> launch;
  std::vector<std::int64_t> graph_launch;
  std::vector<std::int64_t> stream;
};

/// A launch that took this many times the median waited for something (an event, another thread).
constexpr std::int64_t kLaunchOutlier = 5;

/// One stream's contribution. A launch counts when the stream had run dry before it; a gap counts
/// when the op was launched before the one before it began, so that nothing else can have kept it.
/// Only gaps between kernels: a copy has a start of its own. What was enqueued behind a wait for an
/// event (`waits`: when, sorted) tells nothing.
void sample_stream(const Trace& trace, StreamId stream, std::span<const TimeNs> waits,
                   Samples& out) {
  const DeviceOps& ops = trace.device_ops;
  TimeNs free = TimeNs::min();
  TimeNs previous_start = TimeNs::min();
  bool after_kernel = false;
  auto wait = waits.begin();
  for (DeviceOpId op : trace.ops_of_stream[stream]) {
    CallId call = ops.call[op.value];
    TimeNs start = ops.start[op.value];
    const bool kernel = ops.kind[op.value] == DeviceOpKind::kKernel;
    if (call.valid()) {
      TimeNs launched = trace.calls.start[call.value];
      bool graph = trace.calls.kind[call.value] == DeviceCallKind::kGraphLaunch;
      const auto after = std::upper_bound(wait, waits.end(), launched);
      const bool waited = after != wait;
      wait = after;
      if (waited) {
        // Between the waits and the launch there was nothing on the stream: it is what waits.
      } else if (free <= launched && start >= launched) {
        (graph ? out.graph_launch : out.launch).push_back((start - launched).ns);
      } else if (kernel && after_kernel && launched < previous_start && start >= free) {
        out.stream.push_back((start - free).ns);
      }
    }
    previous_start = start;
    after_kernel = kernel;
    free = std::max(free, ops.end[op.value]);
  }
}

}  // namespace

Delay delay_of(const std::optional<MachineFact>& known, DurationNs fallback) {
  if (!known) return {fallback, fallback, fallback, 0, 0, FactOrigin::kDefault, "default"};
  auto rounded = [](double ns) { return DurationNs{std::llround(ns)}; };
  return {rounded(known->value.p5),
          rounded(known->value.p50),
          rounded(known->value.p95),
          0,
          0,
          known->origin,
          known->source};
}

Delay delay_of(std::vector<std::int64_t>& samples, Delay otherwise) {
  if (samples.size() < kMinSamples) {
    otherwise.seen = static_cast<std::int64_t>(samples.size());
    return otherwise;
  }
  auto at = [&](double p) {
    auto nth = samples.begin() +
               static_cast<std::ptrdiff_t>(p * static_cast<double>(samples.size() - 1) + 0.5);
    std::nth_element(samples.begin(), nth, samples.end());
    return DurationNs{*nth};
  };
  const auto count = static_cast<std::int64_t>(samples.size());
  return {at(0.05), at(0.5), at(0.95), count, count, FactOrigin::kRecording, ""};
}

Calibration calibrate_device_delays(const Trace& trace, const MachineFacts& machine) {
  std::vector<Samples> samples(trace.devices.size());
  std::vector<std::vector<TimeNs>> waits(trace.streams.size());
  for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
    if (trace.calls.kind[c] == DeviceCallKind::kStreamWaitEvent && trace.calls.stream[c].valid())
      waits[trace.calls.stream[c].value].push_back(trace.calls.start[c]);
  }
  for (std::uint32_t s = 0; s < trace.streams.size(); ++s)
    sample_stream(trace, StreamId{s}, waits[s], samples[trace.streams[s].device.value]);
  Calibration result;
  for (std::uint32_t d = 0; d < trace.devices.size(); ++d) {
    const Device& device = trace.devices[d];
    const bool cuda = device.type == DeviceType::kCuda;
    DeviceDelays delays;
    // A launch on the host device wakes the thread that is its stream.
    delays.launch =
        delay_of(samples[d].launch,
                 cuda ? delay_of(machine.of(device, MachineFigure::kLaunch), kCudaLaunch)
                      : delay_of(machine.of_host(trace, MachineFigure::kWakeUp), kHostLaunch));
    delays.launch.p95 = std::min(delays.launch.p95, delays.launch.p50 * kLaunchOutlier);
    const DurationNs least = delays.launch.p5;
    delays.graph_launch =
        delay_of(samples[d].graph_launch,
                 {least, least, least, 0, 0, FactOrigin::kDefault, "default: that of a kernel"});
    delays.stream =
        delay_of(samples[d].stream,
                 cuda ? delay_of(machine.of(device, MachineFigure::kKernelGap), kCudaStream)
                      : delay_of(std::nullopt, kHostStream));
    result.devices.push_back(delays);
  }
  return result;
}

}  // namespace headway::analyzer
