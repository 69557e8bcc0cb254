// SPDX-License-Identifier: MIT
// unfused-optimizer: the update runs one or more kernels per parameter.
//
// Symptom: dozens to thousands of tiny kernels at the end of the step.
// Mechanism: each kernel pays its launch and a fixed cost on the device, whatever the parameter's
// size; a
//   multi-tensor update pays them once for many parameters.
// Formula: fires with at least 16 update kernels per step. Recoverable = time from the first update
// kernel to the
//   last (idle time between them included), less the time that the same bytes take at the best rate
//   which a kernel of this run with at least 1 MB reached.
// Falsified by: few parameters, or kernels so long that traffic dominates (then the ideal time is
// close). Known false positives: an update that overlaps the backward pass on purpose. Source:
// multi-tensor optimizers (20 bytes per parameter for SGD with momentum, 28 for Adam).
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/rules/registry.h"
#include "analyzer/rules/support.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

constexpr double kManyKernels = 16;

struct Updates {
  double kernels_per_step = 0;
  DurationNs window_per_step;  ///< first start to last end
  double bytes_per_step = 0;
  double best_rate = 0;  ///< bytes/s
  std::vector<Evidence> windows;
};

Updates measure(const RuleContext& context, const DevicePartition& device) {
  constexpr std::int64_t kRateBytes = 1'000'000;
  Updates result;
  const trace::DeviceOps& ops = context.trace.device_ops;
  std::int64_t steps = 0;
  for (const DeviceStep& step : device.steps) {
    if (!context.steps.all.empty() && !context.steps.all[step.step].steady) continue;
    ++steps;
    Interval window{TimeNs::max(), TimeNs::min()};
    trace::DeviceOpId first_op;
    auto first = static_cast<std::size_t>(
        std::lower_bound(ops.start.begin(), ops.start.end(), step.interval.begin) -
        ops.start.begin());
    std::int64_t kernels = 0;
    for (std::size_t i = first; i < ops.size() && ops.start[i] < step.interval.end; ++i) {
      if (context.trace.streams[ops.stream[i].value].device != device.device ||
          ops.kind[i] != trace::DeviceOpKind::kKernel)
        continue;
      double seconds = (ops.end[i] - ops.start[i]).seconds();
      if (ops.bytes[i] >= kRateBytes && seconds > 0)
        result.best_rate = std::max(result.best_rate, static_cast<double>(ops.bytes[i]) / seconds);
      if (context.attribution.phase_of[i] != trace::Phase::kUpdate) continue;
      if (!first_op.valid()) first_op = trace::DeviceOpId::from(i);
      window = {std::min(window.begin, ops.start[i]), std::max(window.end, ops.end[i])};
      result.bytes_per_step += static_cast<double>(ops.bytes[i]);
      ++kernels;
    }
    if (kernels == 0) continue;
    result.kernels_per_step += static_cast<double>(kernels);
    result.window_per_step += window.length();
    result.windows.push_back(
        {window, EventRef::of(first_op),
         fmt::format("{} update kernels in {}", kernels, format_duration(window.length()))});
  }
  if (steps) {
    result.kernels_per_step /= static_cast<double>(steps);
    result.bytes_per_step /= static_cast<double>(steps);
    result.window_per_step = result.window_per_step / steps;
  }
  std::stable_sort(
      result.windows.begin(), result.windows.end(),
      [](const Evidence& a, const Evidence& b) { return a.where.length() > b.where.length(); });
  if (result.windows.size() > 5) result.windows.resize(5);
  return result;
}

Finding check(const Rule& rule, const RuleContext& context) {
  const DevicePartition* device = worst_share(context, {TimeClass::kOptimizer}).device;
  if (!device) return cannot_tell(rule, "No steady step has work on a device.");
  Updates updates = measure(context, *device);
  if (updates.kernels_per_step == 0) {
    return cannot_tell(
        rule,
        "No kernel is known to belong to the optimizer: no range or tag says where the update is.");
  }
  std::string checked =
      fmt::format("{:.0f} update kernels per step within {}", updates.kernels_per_step,
                  of_step(updates.window_per_step, context.median_step));
  DurationNs ideal = updates.window_per_step;
  if (updates.best_rate > 0)
    ideal = {static_cast<std::int64_t>(updates.bytes_per_step / updates.best_rate * 1e9)};
  DurationNs recoverable = std::max(DurationNs{}, updates.window_per_step - ideal);
  if (updates.kernels_per_step < kManyKernels ||
      ratio(recoverable, context.median_step) < kFindingShare)
    return fine(rule, checked + ".");
  Finding finding = found(rule, recoverable, context);
  finding.claim = fmt::format("{}; their {} would take {} in one pass.", checked,
                              format_bytes(static_cast<std::int64_t>(updates.bytes_per_step)),
                              format_duration(ideal));
  finding.confidence = 0.75;
  finding.evidence = updates.windows;
  finding.advice = {
      {"headway-train", "Update all parameters in one multi-tensor kernel.", "--fused-optimizer on",
       setting(context.trace, "fused_optimizer")},
      {"PyTorch", "Use the fused or at least the foreach variant of the optimizer.",
       "torch.optim.AdamW(…, fused=True)", ""},
      {"TensorFlow/JAX", "Compile the update with the step; in optax, flatten the parameters.",
       "optax.flatten(optimizer), tf.function(jit_compile=True)", ""}};
  return finding;
}

}  // namespace

extern const Rule kUnfusedOptimizer = {
    "unfused-optimizer", "Unfused optimizer",
    "At least 16 update kernels per step whose fusion would save over 5 % of it.", check};

}  // namespace headway::analyzer
