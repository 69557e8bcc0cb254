// SPDX-License-Identifier: MIT
#include "collector/record/system/gpu_sampler.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace headway::record {
namespace {

using Clock = std::chrono::steady_clock;

// Numbers of NVML's interface.
constexpr unsigned kSmClock = 1;
constexpr unsigned kMemoryClock = 2;
constexpr unsigned kCoreSensor = 0;
constexpr unsigned kPcieSent = 0;
constexpr unsigned kPcieReceived = 1;
constexpr unsigned kFieldNvlinkSent = 138;  // KiB since boot
constexpr unsigned kFieldNvlinkReceived = 139;
constexpr unsigned kAllLinks = ~0u;
constexpr unsigned kGpmVersion = 1;

/// GPM's metrics: means over the time between two samples, measured by the device.
struct GpmSeries {
  unsigned metric;
  const GpuSeries& series;
  double scale;
};
constexpr double kMiB = 1024.0 * 1024.0;
constexpr GpmSeries kGpmSeries[] = {{2, kGpuSmActive, 1},           {3, kGpuSmOccupancy, 1},
                                    {5, kGpuTensorActive, 1},       {10, kGpuDramActive, 1},
                                    {20, kGpuPcieSent, kMiB},       {21, kGpuPcieReceived, kMiB},
                                    {60, kGpuNvlinkReceived, kMiB}, {61, kGpuNvlinkSent, kMiB}};
static_assert(std::size(kGpmSeries) <= std::size(Nvml::GpmMetrics{}.metrics));

// NVML takes 20 ms for each answer. Devices with GPM have a better one; only the others are asked.
constexpr std::int64_t kPciePeriodNs = 1'000'000'000;

}  // namespace

void GpuSampler::open() {
  if (hz_ == 0) {
    unavailable_ = "--counter-rate 0";
    return;
  }
  unavailable_ = nvml_.open();
  unsigned count = 0;
  if (unavailable_.empty() && nvml_.device_count(&count) != Nvml::kSuccess) count = 0;
  for (unsigned i = 0; i < count; ++i) {
    Gpu gpu;
    char uuid[96] = {};
    if (nvml_.device(i, &gpu.device) != Nvml::kSuccess ||
        nvml_.uuid(gpu.device, uuid, sizeof uuid) != Nvml::kSuccess)
      continue;
    gpu.uuid = uuid;
    Nvml::GpmSupport support{kGpmVersion, 0};
    gpu.has_gpm = nvml_.gpm_support && nvml_.gpm_allocate && nvml_.gpm_sample &&
                  nvml_.gpm_metrics && nvml_.gpm_free &&
                  nvml_.gpm_support(gpu.device, &support) == Nvml::kSuccess &&
                  support.supported != 0 && nvml_.gpm_allocate(&gpu.gpm[0]) == Nvml::kSuccess &&
                  nvml_.gpm_allocate(&gpu.gpm[1]) == Nvml::kSuccess;
    gpus_.push_back(std::move(gpu));
  }
  if (unavailable_.empty() && gpus_.empty()) unavailable_ = "NVML reports no GPU";
}

GpuSampler::~GpuSampler() {
  for (Gpu& gpu : gpus_) {
    for (void* sample : gpu.gpm) {
      if (sample) nvml_.gpm_free(sample);
    }
  }
}

void GpuSampler::run() {
  open();
  if (!unavailable_.empty()) return;
  auto period = std::chrono::nanoseconds(1'000'000'000 / hz_);
  // Short waits, so that the thread ends soon after finish().
  constexpr auto kStep = std::chrono::milliseconds(20);
  auto round = [&, sampled_ns = std::int64_t{0}]() mutable {
    Samples message;
    message.monotonic_ns =
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
            .count();
    message.since_ns = sampled_ns != 0 ? sampled_ns : message.monotonic_ns;
    sampled_ns = message.monotonic_ns;
    sample(message.monotonic_ns, message.samples);
    queue_.send(std::move(message));
  };
  Clock::time_point next = Clock::now();
  while (!finishing_) {
    Clock::time_point now = Clock::now();
    if (now >= next) {
      round();
      next = std::max(next + period, Clock::now());
    }
    std::this_thread::sleep_until(std::min<Clock::time_point>(next, Clock::now() + kStep));
  }
  round();
}

void GpuSampler::add(const Gpu& gpu, const GpuSeries& series, double value,
                     std::vector<Sample>& samples) {
  samples.push_back({series.name, series.unit, series.description, 0, value, gpu.uuid});
}

void GpuSampler::sample(std::int64_t monotonic_ns, std::vector<Sample>& samples) {
  for (Gpu& gpu : gpus_) {
    sample_states(gpu, samples);
    if (gpu.has_gpm) {
      sample_gpm(gpu, samples);
    } else {
      sample_links(gpu, monotonic_ns, samples);
    }
  }
}

void GpuSampler::sample_states(Gpu& gpu, std::vector<Sample>& samples) {
  auto ask = [&](auto function, auto... arguments) {
    return function && function(gpu.device, arguments...) == Nvml::kSuccess;
  };
  Nvml::Utilisation utilisation{};
  if (ask(nvml_.utilisation, &utilisation)) {
    add(gpu, kGpuUtilisation, utilisation.gpu, samples);
    add(gpu, kGpuMemoryUtilisation, utilisation.memory, samples);
  }
  Nvml::Memory memory{};
  if (ask(nvml_.memory, &memory))
    add(gpu, kGpuMemoryUsed, static_cast<double>(memory.used), samples);
  unsigned value = 0;
  if (ask(nvml_.clock, kSmClock, &value)) add(gpu, kGpuSmClock, value * 1e6, samples);
  if (ask(nvml_.clock, kMemoryClock, &value)) add(gpu, kGpuMemoryClock, value * 1e6, samples);
  unsigned long long reasons = 0;
  if (ask(nvml_.throttle_reasons, &reasons))
    add(gpu, kGpuThrottleReasons, static_cast<double>(reasons), samples);
  if (ask(nvml_.power, &value)) add(gpu, kGpuPower, value / 1e3, samples);
  if (ask(nvml_.temperature, kCoreSensor, &value)) add(gpu, kGpuTemperature, value, samples);
}

void GpuSampler::sample_gpm(Gpu& gpu, std::vector<Sample>& samples) {
  std::swap(gpu.gpm[0], gpu.gpm[1]);
  if (nvml_.gpm_sample(gpu.device, gpu.gpm[1]) != Nvml::kSuccess) {
    gpu.gpm_filled = false;
    return;
  }
  if (!std::exchange(gpu.gpm_filled, true)) return;
  Nvml::GpmMetrics metrics{};
  metrics.version = kGpmVersion;
  metrics.count = std::size(kGpmSeries);
  metrics.first = gpu.gpm[0];
  metrics.second = gpu.gpm[1];
  for (std::size_t i = 0; i < std::size(kGpmSeries); ++i)
    metrics.metrics[i].id = kGpmSeries[i].metric;
  if (nvml_.gpm_metrics(&metrics) != Nvml::kSuccess) return;
  for (std::size_t i = 0; i < std::size(kGpmSeries); ++i) {
    const Nvml::GpmMetric& metric = metrics.metrics[i];
    bool usable = metric.result == Nvml::kSuccess && metric.value - metric.value == 0;
    if (usable) add(gpu, kGpmSeries[i].series, metric.value * kGpmSeries[i].scale, samples);
  }
}

void GpuSampler::sample_links(Gpu& gpu, std::int64_t monotonic_ns, std::vector<Sample>& samples) {
  Nvml::FieldValue fields[2] = {};
  fields[0].field = kFieldNvlinkReceived;
  fields[1].field = kFieldNvlinkSent;
  fields[0].scope = fields[1].scope = kAllLinks;
  if (nvml_.fields && nvml_.fields(gpu.device, 2, fields) == Nvml::kSuccess) {
    auto add_rate = [&](const Nvml::FieldValue& field, Rate& rate, const GpuSeries& series) {
      if (field.result != Nvml::kSuccess || field.value > INT64_MAX / 1024) return;
      if (auto value = rate.next(monotonic_ns, static_cast<std::int64_t>(field.value) * 1024))
        add(gpu, series, *value, samples);
    };
    add_rate(fields[0], gpu.nvlink_received, kGpuNvlinkReceived);
    add_rate(fields[1], gpu.nvlink_sent, kGpuNvlinkSent);
  }
  if (!nvml_.pcie_throughput || monotonic_ns < gpu.next_pcie_ns) return;
  gpu.next_pcie_ns = monotonic_ns + kPciePeriodNs;
  unsigned kilobytes = 0;
  if (nvml_.pcie_throughput(gpu.device, kPcieReceived, &kilobytes) == Nvml::kSuccess)
    add(gpu, kGpuPcieReceived, kilobytes * 1e3, samples);
  if (nvml_.pcie_throughput(gpu.device, kPcieSent, &kilobytes) == Nvml::kSuccess)
    add(gpu, kGpuPcieSent, kilobytes * 1e3, samples);
}

}  // namespace headway::record
