// SPDX-License-Identifier: MIT
// clock-throttled: the device runs below its clock and reports why.
//
// Symptom: kernels take longer than on a similar device; the multiprocessor clock is below its
//   maximum.
// Mechanism: power, temperature or a setting limits the clock; kernels bound by arithmetic slow down with it.
// Formula: c = mean clock during steady steps, divided by the maximum. Recoverable = compute time
//   x (1 - c). Fires from 5 % of the step, if the device reports a reason other than idle.
// Falsified by: memory-bound steps, because memory has its own clock (the gain is smaller).
// Known false positives: devices run at a lower clock on purpose to save energy; power limits
//   reached only because arithmetic runs at full rate.
// Source: nvmlDeviceGetCurrentClocksEventReasons and its bits.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/evidence/counters.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

constexpr std::uint64_t kIdle = 0x1;  // not a limit: nothing runs

struct Reason {
  std::uint64_t bit;
  std::string_view id;
  std::string_view text;
};
constexpr std::array<Reason, 8> kReasons = {{
    {0x2, "application-clock", "a lowered application clock"},
    {0x4, "power", "the power limit"},
    {0x8, "hardware", "a hardware slowdown (temperature, power or power supply)"},
    {0x10, "sync-boost", "a group of devices with synchronised clocks"},
    {0x20, "thermal", "the software temperature limit"},
    {0x40, "thermal", "the hardware temperature limit"},
    {0x80, "power-brake", "an external power brake"},
    {0x100, "display-clock", "the display clock"},
}};

/// The reason given in most samples of the window; null when none was given.
const Reason* main_reason(const trace::CounterSeries& series, Interval window, double& share) {
  std::array<std::int64_t, kReasons.size()> seen{};
  std::int64_t samples = 0;
  for (std::size_t i = 0; i < series.time.size(); ++i) {
    if (!window.contains(series.time[i]) || series.value[i] < 0) continue;
    auto bits = static_cast<std::uint64_t>(series.value[i]) & ~kIdle;
    ++samples;
    for (std::size_t r = 0; r < kReasons.size(); ++r) seen[r] += (bits & kReasons[r].bit) != 0;
  }
  auto most = std::max_element(seen.begin(), seen.end());
  if (samples == 0 || *most == 0) return nullptr;
  share = static_cast<double>(*most) / static_cast<double>(samples);
  return &kReasons[static_cast<std::size_t>(most - seen.begin())];
}

DurationNs compute_of(const DevicePartition& device) {
  return device.per_steady_step.of_group(TimeGroup::kCompute);
}

std::vector<Advice> advice(const Reason& reason) {
  std::string knob = reason.id == "power" || reason.id == "power-brake"
                         ? "nvidia-smi -q -d POWER; nvidia-smi -pl WATTS"
                     : reason.id == "application-clock"
                         ? "nvidia-smi -rac (reset application clocks)"
                         : "nvidia-smi -q -d TEMPERATURE,PERFORMANCE";
  std::string text =
      reason.id == "power" || reason.id == "power-brake"
          ? "Raise the power limit if rack and supply allow it. Compare with the other devices."
      : reason.id == "application-clock"
          ? "Let the device choose its clock, unless you lowered it to save energy."
          : "Check the cooling: inlet temperature, fans, dust, neighbouring devices.";
  std::vector<Advice> list;
  for (std::string_view framework : {"headway-train", "PyTorch", "TensorFlow/JAX"})
    list.push_back({std::string(framework), text, knob, ""});
  return list;
}

struct Throttled {
  const DevicePartition* device = nullptr;
  const Reason* reason = nullptr;
  double clock = 1;  ///< over the maximum
  double share_of_samples = 0;
  DurationNs recoverable;
};

Finding check(const Rule& rule, const RuleContext& context) {
  Throttled worst;
  double slowest = 1;
  bool judged = false;
  for (const DevicePartition& device : context.partitions) {
    if (device.steady_steps == 0 || !device.device.valid()) continue;
    double maximum = static_cast<double>(context.trace.devices[device.device.value].max_clock_hz);
    auto clock = counters::steady(context, counters::kGpuSmClock, device.device);
    const trace::CounterSeries* reasons =
        counters::find(context.trace, counters::kGpuThrottleReasons, device.device);
    if (maximum <= 0 || !clock || !reasons) continue;
    judged = true;
    Throttled t;
    t.device = &device;
    t.clock = std::min(1.0, clock->mean / maximum);
    slowest = std::min(slowest, t.clock);
    t.reason = main_reason(*reasons, counters::steady_window(context), t.share_of_samples);
    t.recoverable = {
        static_cast<std::int64_t>(static_cast<double>(compute_of(device).ns) * (1 - t.clock))};
    if (t.reason && t.recoverable > worst.recoverable) worst = t;
  }
  if (!judged) {
    return cannot_tell(rule, fmt::format("The trace has no samples of the SM clock and its limits. "
                                         "Record the counters {} and {}.",
                                         counters::kGpuSmClock, counters::kGpuThrottleReasons));
  }
  DurationNs step = worst.device ? worst.device->per_steady_step.total() : context.step;
  if (!worst.device || ratio(worst.recoverable, step) < kFindingShare) {
    return fine(
        rule, fmt::format("The multiprocessors run at {} of their maximum clock or more{}.",
                          format_percent(slowest), worst.device ? "" : ", and nothing limits it"));
  }
  Finding finding = found(rule, worst.recoverable, context);
  finding.sub_cause = worst.reason->id;
  finding.claim = fmt::format(
      "The multiprocessors run at {} of their maximum clock. The device reports {} in {} of the "
      "samples. At full clock, compute would take up to {} less.",
      format_percent(worst.clock), worst.reason->text, format_percent(worst.share_of_samples),
      of_step(context, worst.recoverable, step));
  finding.confidence = 0.7;
  finding.evidence = {{counters::steady_window(context), {}, "steps at a lower clock"}};
  finding.advice = advice(*worst.reason);
  return finding;
}

}  // namespace

extern const Rule kClockThrottled = {
    "clock-throttled", "Clock limited",
    "The device reports a clock limit that costs over 5 % of the step.", check};

}  // namespace headway::analyzer
