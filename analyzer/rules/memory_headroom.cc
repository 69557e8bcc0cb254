// SPDX-License-Identifier: MIT
// memory-headroom: the batch is too small for the device, and memory has room for a larger one.
//
// Symptom: launch gaps or kernels with fewer blocks than multiprocessors, while most of the memory is free.
// Mechanism: a launch costs the same for any batch size, and a kernel with few blocks leaves
//   multiprocessors idle. A larger batch spreads both costs over more samples.
// Formula: k = 0.9 x memory / peak use, the possible growth of the batch (a lower bound:
//   activations grow, weights do not). Recoverable for the same number of samples = launch_gap x
//   (1 - 1/k) + per kernel with b < m blocks: time x (1 - 1/min(k, m/b)), m = multiprocessors.
//   Fires if k >= 2. The claim names the smallest power of two with nine tenths of this. In
//   inference, requests determine the batch, so the rule cannot tell.
// Falsified by: memory use outside the recorded peak (another process, later phases with longer
//   inputs).
// Known false positives: batch sizes fixed by convergence; past the usual limit use LARS or LAMB.
// Source: the batch size is the first knob of every tuning guide; large-batch optimizers move its limit.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/evidence/counters.h"
#include "analyzer/evidence/support.h"
#include "analyzer/partition/steady_ops.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

constexpr double kUsable = 0.9;
constexpr double kMinGrowth = 2;

/// Time that a batch `growth` times as large saves per samples of one present step.
DurationNs gain_of(const RuleContext& context, const DevicePartition& device, double growth) {
  auto saved = [](DurationNs time, double factor) {
    return static_cast<double>(time.ns) * (1 - 1 / factor);
  };
  double blocks_gain = 0;
  double processors = context.trace.devices[device.device.value].cores;
  const trace::DeviceOps& ops = context.trace.device_ops;
  std::int64_t steps = for_each_steady_op(
      context.trace, context.steps, device, [&](const DeviceStep&, trace::DeviceOpId op) {
        double blocks = ops.blocks[op.value];
        if (ops.kind[op.value] != trace::DeviceOpKind::kKernel || blocks <= 0 ||
            blocks >= processors)
          return;
        blocks_gain += saved(ops.interval(op).length(), std::min(growth, processors / blocks));
      });
  double launch_gain = saved(device.per_steady_step[TimeClass::kLaunchGap], growth);
  return {static_cast<std::int64_t>(
      launch_gain + blocks_gain / static_cast<double>(std::max<std::int64_t>(1, steps)))};
}

std::vector<Evidence> evidence(const RuleContext& context, const DevicePartition& device) {
  std::vector<Evidence> list = longest_segments(
      context, device, {TimeClass::kLaunchGap},
      [](const RuleContext&, const Segment&) {
        return std::string("the device waits for a launch");
      },
      6);
  const trace::DeviceOps& ops = context.trace.device_ops;
  auto processors = static_cast<std::uint32_t>(context.trace.devices[device.device.value].cores);
  std::vector<trace::DeviceOpId> small;
  for_each_steady_op(context.trace, context.steps, device,
                     [&](const DeviceStep&, trace::DeviceOpId op) {
                       std::uint32_t blocks = ops.blocks[op.value];
                       if (blocks > 0 && blocks < processors) small.push_back(op);
                     });
  std::size_t shown = std::min<std::size_t>(6, small.size());
  std::partial_sort(small.begin(), small.begin() + static_cast<std::ptrdiff_t>(shown), small.end(),
                    [&](trace::DeviceOpId a, trace::DeviceOpId b) {
                      DurationNs x = ops.interval(a).length();
                      DurationNs y = ops.interval(b).length();
                      return x != y ? x > y : a < b;
                    });
  for (std::size_t i = 0; i < shown; ++i) {
    list.push_back(
        {ops.interval(small[i]), EventRef::of(small[i]),
         fmt::format("{} blocks on {} multiprocessors", ops.blocks[small[i].value], processors)});
  }
  return list;
}

/// The smallest growth with most of the gain; a larger batch uses more memory for little.
double worthwhile_growth(const RuleContext& context, const DevicePartition& device, double most) {
  constexpr double kMostOfIt = 0.9;
  const DurationNs all = gain_of(context, device, most);
  for (double growth = kMinGrowth; growth < most; growth *= 2) {
    if (ratio(gain_of(context, device, growth), all) >= kMostOfIt) return growth;
  }
  return most;
}

struct Headroom {
  const DevicePartition* device = nullptr;
  double peak = 0;
  double memory = 0;
  double growth = 0;
  DurationNs gain;
};

Finding check(const Rule& rule, const RuleContext& context) {
  Headroom best;
  bool any_step = false;
  bool unknown = false;
  DurationNs possible;  // if memory were no limit
  double fullest = 0;
  for (const DevicePartition& device : context.partitions) {
    if (device.steady_steps == 0 || !device.device.valid()) continue;
    any_step = true;
    DurationNs step = device.per_steady_step.total();
    DurationNs unlimited = gain_of(context, device, 1e9);
    possible = std::max(possible, unlimited);
    if (ratio(unlimited, step) < kFindingShare) continue;
    Headroom here;
    here.device = &device;
    here.memory = static_cast<double>(context.trace.devices[device.device.value].memory_bytes);
    here.peak = counters::memory_peak(context.trace, device.device);
    if (here.memory <= 0 || here.peak <= 0) {
      unknown = true;
      continue;
    }
    fullest = std::max(fullest, here.peak / here.memory);
    here.growth = kUsable * here.memory / here.peak;
    if (here.growth < kMinGrowth) continue;
    here.growth = worthwhile_growth(context, device, here.growth);
    here.gain = gain_of(context, device, here.growth);
    if (!best.device || here.gain > best.gain) best = here;
  }
  if (!any_step) return cannot_tell(rule, "No steady step has work on a device.");
  if (!best.device && unknown) {
    return cannot_tell(
        rule,
        fmt::format("A larger batch could gain up to {}, but memory use is unknown. Record the "
                    "counter {}, or let the PyTorch profiler record memory (profile_memory=True).",
                    of_step(context, possible, context.step), counters::kGpuMemoryUsed));
  }
  if (!best.device && fullest > 0) {
    return fine(rule, fmt::format("{} of the memory is used: no room for twice the batch.",
                                  format_percent(fullest)));
  }
  DurationNs step = best.device ? best.device->per_steady_step.total() : context.step;
  if (!best.device || ratio(best.gain, step) < kFindingShare) {
    return fine(rule, fmt::format("Launch gaps and kernels with few blocks: {}.",
                                  of_step(context, best.device ? best.gain : possible, step)));
  }
  if (context.program.is_inference())
    return cannot_tell(
        rule,
        fmt::format(
            "Memory has room for {:.0f} times the batch, which would save up to {}. In inference, "
            "requests determine the batch; whether more can be combined is not recorded.",
            best.growth, of_step(context, best.gain, step)));
  Finding finding = found(rule, best.gain, context);
  finding.claim = fmt::format(
      "At most {} of {} are used. {:.1f} times the batch fits and spreads {} of launch gaps and "
      "underfilled kernels.",
      format_bytes(static_cast<std::int64_t>(best.peak)),
      format_bytes(static_cast<std::int64_t>(best.memory)), best.growth,
      of_step(context, best.gain, step));
  finding.confidence = 0.6;
  finding.evidence = evidence(context, *best.device);
  finding.advice = {
      {"headway-train",
       "Use a larger batch, with LARS or LAMB beyond the size at which accuracy drops.",
       "--batch N --optimizer lars", settings(context.trace, {"batch", "optimizer"})},
      {"PyTorch",
       "Use a larger batch with a scaled learning rate, and LAMB or LARS beyond the usual limit.",
       "DataLoader(batch_size=…), apex.optimizers.FusedLAMB",
       settings(context.trace, {"batch_size"})},
      {"TensorFlow/JAX", "Use a larger batch with a scaled learning rate.",
       "dataset.batch(…), optax.lamb / optax.lars", ""}};
  return finding;
}

}  // namespace

extern const Rule kMemoryHeadroom = {
    "memory-headroom", "Room for a larger batch",
    "Under half of the memory is used, and a larger batch would shrink launch gaps and small "
    "kernels worth over 5 % of the step.",
    check};

}  // namespace headway::analyzer
