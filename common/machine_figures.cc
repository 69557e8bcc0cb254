// SPDX-License-Identifier: MIT
#include "common/machine_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "common/format.h"
#include "common/statistics.h"

namespace headway {
namespace {

using enum MachineFigure;
using enum FigureUnit;

constexpr auto kFigures = std::to_array<MachineFigureInfo>({
    {kWakeUp, "wake_up", false, kNs, "wake-up of a thread",
     "From waking a thread asleep on a futex until it runs."},
    {kClockRead, "clock_read", false, kNs, "clock read", "One clock_gettime(CLOCK_REALTIME)."},
    {kHostCopy, "host_copy", false, kBytesPerSecond, "memcpy, 1 thread",
     "Bytes copied from memory to memory by one thread."},
    {kHostCopyAll, "host_copy_all", false, kBytesPerSecond, "memcpy, all threads",
     "Bytes copied by one thread per processor."},
    {kHostTriad, "host_triad", false, kBytesPerSecond, "memory bandwidth",
     "a[i] = b[i] + s * c[i] on all processors: bytes read and written."},
    {kHostFp32, "host_fp32", false, kFlops, "FP32 peak",
     "Independent fused multiply-adds in registers on all processors, two operations each."},
    {kHostCollective, "collective_of_ranks", false, kNs, "collectives between ranks",
     "No single value: see `collectives`, by backend, kind and number of ranks."},
    {kLaunch, "launch", true, kNs, "launch latency",
     "As in a recording: start of the launch call to start of the kernel, on an idle stream."},
    {kKernelGap, "kernel_gap", true, kNs, "kernel gap",
     "As in a recording: end of a kernel to start of the next on the stream, launched long "
     "before."},
    {kSync, "sync", true, kNs, "wake-up of a waiting call",
     "As in a recording: end of the awaited kernel to return of the blocking call."},
    {kKernelPeriod, "kernel_period", true, kNs, "empty kernel, start to start",
     "Time per kernel between events around queued empty kernels: the gap and minimum duration of "
     "a kernel."},
    {kRoundTrip, "round_trip", true, kNs, "launch and wait",
     "Launching an empty kernel and waiting for its stream, by the host clock."},
    {kIdleSync, "idle_sync", true, kNs, "wait for an idle stream",
     "A blocking call with nothing to wait for, by the host clock."},
    {kToDevicePinned, "to_device_pinned", true, kBytesPerSecond, "copy to the device, pinned",
     "64 MiB from page-locked memory."},
    {kToDevicePageable, "to_device_pageable", true, kBytesPerSecond, "copy to the device, pageable",
     "64 MiB from ordinary memory."},
    {kFromDevicePinned, "from_device_pinned", true, kBytesPerSecond, "copy to the host, pinned",
     "64 MiB to page-locked memory."},
    {kFromDevicePageable, "from_device_pageable", true, kBytesPerSecond,
     "copy to the host, pageable", "64 MiB to ordinary memory."},
    {kDeviceTriad, "device_triad", true, kBytesPerSecond, "memory bandwidth",
     "a[i] = b[i] + s * c[i] on arrays larger than any cache: bytes read and written."},
    {kGemmFp32, "gemm_fp32", true, kFlops, "matrix product, FP32",
     "cuBLASLt, 8192³ (4096³ where memory is short), random data, general cores."},
    {kGemmTf32, "gemm_tf32", true, kFlops, "matrix product, TF32", "The same on the matrix units."},
    {kGemmFp16, "gemm_fp16", true, kFlops, "matrix product, FP16", "The same, sums in FP32."},
    {kGemmBf16, "gemm_bf16", true, kFlops, "matrix product, BF16", "The same, sums in FP32."},
    {kCollective, "collective", true, kNs, "start of a collective",
     "Not measured: it needs several GPUs."},
});

consteval bool in_order() {
  for (std::size_t i = 0; i < kFigures.size(); ++i)
    if (static_cast<std::size_t>(kFigures[i].figure) != i) return false;
  return kFigures.size() == kMachineFigureCount;
}
static_assert(in_order());

/// Three significant digits with the prefix that fits.
std::string with_prefix(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 6> kPrefixes = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  while (value >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}{}", value, decimals, kPrefixes[prefix], unit);
}

}  // namespace

std::string_view unit_name(FigureUnit unit) {
  switch (unit) {
    case kNs:
      return "ns";
    case kBytesPerSecond:
      return "bytes/s";
    case kFlops:
      return "flop/s";
  }
  return "";
}

std::span<const MachineFigureInfo> machine_figures() {
  return kFigures;
}

const MachineFigureInfo& info(MachineFigure figure) {
  HEADWAY_INVARIANT(figure < MachineFigure::kCount_);
  return kFigures[static_cast<std::size_t>(figure)];
}

std::optional<FigureValue> figure_of(std::vector<double> samples) {
  if (samples.empty()) return std::nullopt;
  std::sort(samples.begin(), samples.end());
  return FigureValue{percentile_sorted(samples, 0.05), percentile_sorted(samples, 0.5),
                     percentile_sorted(samples, 0.95), static_cast<std::int64_t>(samples.size())};
}

std::string format_figure(FigureUnit unit, double value) {
  switch (unit) {
    case kNs:
      return value < 10 ? fmt::format("{:.1f} ns", value)
                        : format_duration(DurationNs{std::llround(value)});
    case kBytesPerSecond:
      return with_prefix(value, "B/s");
    case kFlops:
      return with_prefix(value, "FLOP/s");
  }
  return "";
}

}  // namespace headway
