// SPDX-License-Identifier: MIT
// unfused-optimizer: the update runs one or more kernels per parameter.
//
// Symptom: dozens to thousands of tiny kernels at the end of the step.
// Mechanism: each kernel pays its launch and a fixed device cost, whatever the parameter's size. A
//   multi-tensor update pays them once for many parameters.
// Formula: fires with at least 16 update kernels per step: those of the update phase, and
//   multi-tensor kernels by name. Recoverable = time of uninterrupted sequences of update kernels
//   (including idle time), minus the time of the same bytes at the best rate of this run's kernels
//   of at least 1 MB. If bytes are unknown: minus the kernels' time beyond 2 us each, a rule of thumb for
//   a kernel's fixed cost. Without a device: the share of the update that PyTorch's fused
//   implementation saves, by the number of tensors and elements from the hook; its ratio to a loop
//   over tensors is measured (analyzer/evidence/optimizer_calls.cc).
// Falsified by: few parameters, or kernels so long that traffic dominates (then the ideal time is close).
// Known false positives: an update that overlaps the backward pass on purpose.
// Source: multi-tensor optimizers (20 bytes per parameter for SGD with momentum, 28 for Adam).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyzer/evidence/optimizer_calls.h"
#include "analyzer/evidence/support.h"
#include "analyzer/kernels/families.h"
#include "analyzer/partition/steady_ops.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

constexpr double kManyKernels = 16;
constexpr DurationNs kFixedCost{2'000};

struct Updates {
  double kernels_per_step = 0;
  DurationNs window_per_step;        ///< sequences without other kernels in between
  DurationNs beyond_fixed_per_step;  ///< time of kernels beyond the fixed cost of each
  double multi_tensor_per_step = 0;  ///< of the kernels
  double bytes_per_step = 0;
  double best_rate = 0;  ///< bytes/s
  std::vector<Evidence> windows;
};

Updates measure(const RuleContext& context, const DevicePartition& device) {
  constexpr std::int64_t kRateBytes = 1'000'000;
  struct Window {
    Interval interval{TimeNs::max(), TimeNs::min()};
    trace::DeviceOpId first;
    std::int64_t kernels = 0;
    Interval stretch;  ///< the open sequence
    bool open = false;
    DurationNs length;
  };
  Updates result;
  const trace::DeviceOps& ops = context.trace.device_ops;
  std::map<std::uint32_t, Window> windows;  // by step
  std::int64_t steps = for_each_steady_op(
      context.trace, context.steps, device, [&](const DeviceStep& step, trace::DeviceOpId op) {
        if (ops.kind[op.value] != trace::DeviceOpKind::kKernel) return;
        Interval interval = ops.interval(op);
        std::int64_t bytes = ops.bytes[op.value];
        if (bytes >= kRateBytes && !interval.empty()) {
          result.best_rate =
              std::max(result.best_rate, static_cast<double>(bytes) / interval.length().seconds());
        }
        bool multi_tensor = context.kernels.of(op).family == KernelFamily::kOptimizer;
        if (context.attribution.phase_of[op.value] != trace::Phase::kUpdate && !multi_tensor) {
          auto open = windows.find(step.step);
          if (open != windows.end()) open->second.open = false;
          return;
        }
        result.multi_tensor_per_step += multi_tensor ? 1 : 0;
        result.beyond_fixed_per_step += std::max(DurationNs{}, interval.length() - kFixedCost);
        Window& window = windows[step.step];
        if (!window.first.valid()) window.first = op;
        window.interval = {std::min(window.interval.begin, interval.begin),
                           std::max(window.interval.end, interval.end)};
        if (!window.open) window.stretch = {interval.begin, interval.begin};
        window.open = true;
        const TimeNs end = std::max(window.stretch.end, interval.end);
        window.length += end - window.stretch.end;
        window.stretch.end = end;
        ++window.kernels;
        result.bytes_per_step += static_cast<double>(bytes);
      });
  for (const auto& [step, window] : windows) {
    DurationNs length = window.length;
    result.kernels_per_step += static_cast<double>(window.kernels);
    result.window_per_step += length;
    result.windows.push_back(
        {window.interval, EventRef::of(window.first),
         fmt::format("{} update kernels in {}", window.kernels, format_duration(length))});
  }
  if (steps) {
    result.kernels_per_step /= static_cast<double>(steps);
    result.multi_tensor_per_step /= static_cast<double>(steps);
    result.bytes_per_step /= static_cast<double>(steps);
    result.beyond_fixed_per_step = result.beyond_fixed_per_step / steps;
    result.window_per_step = result.window_per_step / steps;
  }
  std::stable_sort(
      result.windows.begin(), result.windows.end(),
      [](const Evidence& a, const Evidence& b) { return a.where.length() > b.where.length(); });
  constexpr std::size_t kShown = 5;
  if (result.windows.size() > kShown) result.windows.resize(kShown);
  return result;
}

/// Steps without a device: the optimizer is a loop of ops over its tensors, or one call.
Finding check_threads(const Rule& rule, const RuleContext& context) {
  const OptimizerCalls calls = find_optimizer_calls(context);
  if (!calls.partition) return cannot_tell(rule, "No steady step has work on a device.");
  const std::string time =
      of_step(context, calls.per_step, calls.partition->per_steady_step.total());
  if (!calls.missing.empty())
    return fine(rule, fmt::format("The update: {}; {}.", time, calls.missing));
  const DurationNs recoverable{
      std::llround(static_cast<double>(calls.per_step.ns) * (1 - calls.fused_share))};
  const std::string checked =
      fmt::format("{} updates {} tensors, in {}", calls.name, format_count(calls.tensors), time);
  if (ratio(recoverable, context.step) < kFindingShare) return fine(rule, checked + ".");
  Finding finding = found(rule, recoverable, context);
  finding.claim =
      fmt::format("{}; its fused implementation takes about {:.0f} % of that time in one call.",
                  checked, calls.fused_share * 100);
  finding.confidence = 0.8;
  finding.evidence = longest_segments(
      context, *calls.partition, {TimeClass::kOptimizer},
      [](const RuleContext& all, const Segment& segment) {
        return fmt::format("'{}'", name_of(all.trace, segment.cause));
      },
      5);
  finding.advice = {{"PyTorch", "Use the fused implementation; it also runs on CPUs.",
                     fmt::format("torch.optim.{}(…, fused=True)", calls.name),
                     std::string(calls.flags)}};
  return finding;
}

Finding check(const Rule& rule, const RuleContext& context) {
  if (context.program.is_inference()) return fine(rule, "The program updates no weights.");
  const DevicePartition* device = worst_share(context, {TimeClass::kOptimizer}).device;
  if (!device) return check_threads(rule, context);
  Updates updates = measure(context, *device);
  if (updates.kernels_per_step == 0) {
    return cannot_tell(rule,
                       "No kernel belongs to a known optimizer: no range or tag marks the update.");
  }
  std::string multi_tensor =
      updates.multi_tensor_per_step >= 0.5
          ? fmt::format(" ({:.0f} of them multi-tensor)", updates.multi_tensor_per_step)
          : "";
  std::string checked = fmt::format("{:.0f} update kernels {}{} within {}",
                                    updates.kernels_per_step, per_step(context), multi_tensor,
                                    of_step(context, updates.window_per_step, context.step));
  bool bytes_known = updates.best_rate > 0 && updates.bytes_per_step > 0;
  DurationNs ideal = updates.beyond_fixed_per_step;
  if (bytes_known)
    ideal = {static_cast<std::int64_t>(updates.bytes_per_step / updates.best_rate * 1e9)};
  DurationNs recoverable = std::max(DurationNs{}, updates.window_per_step - ideal);
  if (updates.kernels_per_step < kManyKernels || ratio(recoverable, context.step) < kFindingShare)
    return fine(rule, checked + ".");
  Finding finding = found(rule, recoverable, context);
  finding.claim = bytes_known
                      ? fmt::format("{}; one pass over their {} would take {}.", checked,
                                    format_bytes(static_cast<std::int64_t>(updates.bytes_per_step)),
                                    format_duration(ideal))
                      : fmt::format("{}; without per-kernel overhead it would take about {}.",
                                    checked, format_duration(ideal));
  finding.confidence = bytes_known ? 0.75 : 0.6;
  finding.evidence = updates.windows;
  finding.advice = {
      {"headway-train", "Update all parameters in one multi-tensor kernel.",
       "--fused-optimizer multi-tensor", settings(context.trace, {"fused_optimizer"})},
      {"PyTorch", "Use the fused, or at least the foreach, variant of the optimizer.",
       "torch.optim.AdamW(…, fused=True)", ""},
      {"TensorFlow/JAX", "Compile the update with the step; in optax, flatten the parameters.",
       "optax.flatten(optimizer), tf.function(jit_compile=True)", ""}};
  return finding;
}

}  // namespace

extern const Rule kUnfusedOptimizer = {
    "unfused-optimizer", "Unfused optimizer",
    "Fusing at least 16 update kernels, or an update on the CPU, would save over 5 % of the step.",
    check};

}  // namespace headway::analyzer
