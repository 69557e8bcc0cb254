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

/// No device takes this long from one op of a stream to the next ready one: an op that begins later waited for its launch.
constexpr DurationNs kNoStreamGap{3'000};
/// Launches that the host makes one after the other take about equally long (the median is at most this many times the 5th
/// percentile); otherwise something else delays them. No driver takes kNoLaunch for a launch: a host that is always equally
/// far ahead shows equal delays, too.
constexpr std::int64_t kAlike = 2;
constexpr DurationNs kNoLaunch{200'000};

struct Samples {
  std::vector<std::int64_t> launch;
  /// From ops that were launched while the op before ran, and began long after it had ended. Where a host launches more often
  /// than a launch takes, the queue never runs dry and `launch` stays empty.
  std::vector<std::int64_t> late_launch;
  std::vector<std::int64_t> graph_launch;
  /// From op to op of a stream, and how long before the end of the first the second was launched.
  std::vector<std::int64_t> stream;
  std::vector<std::int64_t> ahead;
};

/// A launch that took this many times the median waited for something (an event, another thread).
constexpr std::int64_t kLaunchOutlier = 5;

/// One stream's contribution. A launch counts when the stream had run dry before it; a gap may count
/// when the op was launched before the previous op began, and only between kernels: copies start in
/// another way. An op enqueued behind a wait for an event (`waits`: their times, sorted) tells nothing.
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
        // Nothing was enqueued between the wait and this launch: this op is the one that waits.
      } else if (free <= launched && start >= launched) {
        (graph ? out.graph_launch : out.launch).push_back((start - launched).ns);
      } else if (kernel && after_kernel && !graph && start > free + kNoStreamGap &&
                 start >= launched) {
        out.late_launch.push_back((start - launched).ns);
      } else if (kernel && after_kernel && launched < previous_start && start >= free) {
        out.stream.push_back((start - free).ns);
        out.ahead.push_back((free - launched).ns);
      }
    }
    previous_start = start;
    after_kernel = kernel;
    free = std::max(free, ops.end[op.value]);
  }
}

}  // namespace

namespace {

Delay launch_delay(Samples& samples, const Delay& otherwise) {
  Delay empty = delay_of(samples.launch, otherwise);
  if (empty.samples > 0) return empty;
  const Delay late = delay_of(samples.late_launch, empty);
  const bool of_launches = late.p50 <= late.p5 * kAlike && late.p50 < kNoLaunch;
  return late.samples > 0 && of_launches ? late : empty;
}

/// The device's own gap between two ops, from pairs in which the launch of the second was complete when the first ended.
Delay stream_delay(const Samples& samples, DurationNs launch, const Delay& otherwise) {
  std::vector<std::int64_t> ready;
  for (std::size_t i = 0; i < samples.stream.size(); ++i)
    if (samples.ahead[i] >= launch.ns) ready.push_back(samples.stream[i]);
  return delay_of(ready, otherwise);
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
    delays.launch = launch_delay(
        samples[d], cuda ? delay_of(machine.of(device, MachineFigure::kLaunch), kCudaLaunch)
                         : delay_of(machine.of_host(trace, MachineFigure::kWakeUp), kHostLaunch));
    delays.launch.p95 = std::min(delays.launch.p95, delays.launch.p50 * kLaunchOutlier);
    const DurationNs least = delays.launch.p5;
    delays.graph_launch =
        delay_of(samples[d].graph_launch,
                 {least, least, least, 0, 0, FactOrigin::kDefault, "default: same as a kernel"});
    delays.stream =
        stream_delay(samples[d], delays.launch.p50,
                     cuda ? delay_of(machine.of(device, MachineFigure::kKernelGap), kCudaStream)
                          : delay_of(std::nullopt, kHostStream));
    result.devices.push_back(delays);
  }
  return result;
}

}  // namespace headway::analyzer
