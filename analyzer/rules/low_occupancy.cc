// SPDX-License-Identifier: MIT
// low-occupancy: long kernels have fewer blocks than the device has multiprocessors.
//
// Symptom: long kernels of tens of blocks while most of the device is idle.
// Mechanism: a block runs on one multiprocessor, so a grid of n blocks leaves all but n of them idle.
// Formula: recoverable = sum over kernels of at least 10 us with blocks < multiprocessors of d x
//   (1 - blocks / multiprocessors), if no other kernel of the device overlaps. Communication is
//   excluded, because it leaves room on purpose.
// Falsified by: kernels bound by one chain of dependent work, which more blocks do not shorten.
// Known false positives: persistent kernels that pipeline on purpose with few blocks.
// Source: CUDA C++ best practices guide, section on occupancy.
#include <fmt/format.h>

#include "analyzer/evidence/device_streams.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

constexpr DurationNs kLong{10'000};

struct Narrow {
  DurationNs recoverable;
  DurationNs time;
  double kernels = 0;
  std::int32_t multiprocessors = 0;
  bool any_grid = false;
  std::vector<Evidence> evidence;
};

Narrow measure(const RuleContext& context, const DevicePartition& device) {
  Narrow result;
  result.multiprocessors = limits_of(context, device).multiprocessors;
  const trace::DeviceOps& ops = context.trace.device_ops;
  LongestEvidence longest;
  TimeNs busy_to = TimeNs::min();  // end of the kernels seen so far
  trace::DeviceOpId pending;       // narrow, and alone so far
  auto settle = [&] {
    if (!pending.valid()) return;
    DurationNs time = duration(context, pending);
    double idle = 1 - static_cast<double>(ops.blocks[pending.value]) /
                          static_cast<double>(result.multiprocessors);
    result.time += time;
    result.recoverable += {static_cast<std::int64_t>(static_cast<double>(time.ns) * idle)};
    result.kernels += 1;
    if (longest.wants(time))
      longest.add(ops.interval(pending), pending,
                  fmt::format("{} blocks on {} multiprocessors: {}", ops.blocks[pending.value],
                              result.multiprocessors, short_name(context, pending)));
    pending = trace::DeviceOpId::none();
  };
  std::int64_t steps = for_each_steady_op(
      context.trace, context.steps, device, [&](const DeviceStep&, trace::DeviceOpId op) {
        if (ops.kind[op.value] != trace::DeviceOpKind::kKernel) return;
        result.any_grid |= ops.blocks[op.value] > 0;
        bool overlaps = ops.start[op.value] < busy_to;
        if (overlaps) pending = trace::DeviceOpId::none();
        settle();
        busy_to = std::max(busy_to, ops.end[op.value]);
        KernelFamily family = context.kernels.of(op).family;
        bool narrow = ops.blocks[op.value] > 0 &&
                      static_cast<std::int64_t>(ops.blocks[op.value]) < result.multiprocessors &&
                      duration(context, op) >= kLong && family != KernelFamily::kCommunication &&
                      family != KernelFamily::kDelay;
        if (narrow && !overlaps) pending = op;
      });
  settle();
  if (steps == 0) return result;
  result.recoverable = result.recoverable / steps;
  result.time = result.time / steps;
  result.kernels /= static_cast<double>(steps);
  result.evidence = longest.take();
  return result;
}

Finding check(const Rule& rule, const RuleContext& context) {
  auto [device, narrow] = worst_device(
      context, [&](const DevicePartition& d, const KernelWork&) { return measure(context, d); });
  if (!device) return cannot_tell(rule, "No steady step has work on a device.");
  if (!narrow.any_grid) return cannot_tell(rule, "The trace has no grid sizes of kernels.");
  if (narrow.multiprocessors == 0)
    return cannot_tell(
        rule, "The trace does not identify the device, so its multiprocessor count is unknown.");
  if (ratio(narrow.recoverable, context.step) < kFindingShare)
    return fine(rule,
                fmt::format("Long kernels with fewer blocks than the {} multiprocessors: {}.",
                            narrow.multiprocessors, of_step(context, narrow.time, context.step)));
  Finding finding = found(rule, narrow.recoverable, context);
  finding.claim = fmt::format(
      "{:.0f} kernels {} have fewer blocks than the {} multiprocessors and take {}; filling the "
      "device would save {}.",
      narrow.kernels, per_step(context), narrow.multiprocessors,
      of_step(context, narrow.time, context.step), format_duration(narrow.recoverable));
  finding.confidence = 0.6;
  finding.evidence = std::move(narrow.evidence);
  finding.advice = {{"headway-train", "Give each kernel more work.", "--batch N",
                     settings(context.trace, {"batch"})},
                    {"PyTorch",
                     "Give each kernel more work: use a larger batch, or split the long dimension "
                     "(split-K, flash-decoding). Run independent small kernels on several streams.",
                     "DataLoader(batch_size=…), torch.compile(model, mode='max-autotune')", ""},
                    {"TensorFlow/JAX", "Use a larger batch per device, or fewer devices per model.",
                     "batch size; XLA_FLAGS=--xla_gpu_autotune_level=4", ""}};
  return finding;
}

}  // namespace

extern const Rule kLowOccupancy = {
    "low-occupancy", "Low occupancy",
    "Long kernels with fewer blocks than multiprocessors take over 5 % of the step.", check};

}  // namespace headway::analyzer
