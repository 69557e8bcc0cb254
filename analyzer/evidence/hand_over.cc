// SPDX-License-Identifier: MIT
#include "analyzer/evidence/hand_over.h"

#include <algorithm>
#include <cmath>

#include "analyzer/evidence/counters.h"
#include "analyzer/evidence/loader.h"

namespace headway::analyzer {
namespace {

// Measured on two machines: 0.65 and 1.3 ms for a ready batch of three tensors. The constants lie
// half way between.
constexpr double kHandOverNs = 300e3;
constexpr double kHandOverBusyNs = 1200e3;
constexpr double kTensorNs = 200e3;
constexpr double kTensorBusyNs = 450e3;
constexpr DurationNs kBeside{450'000};

/// Probability that all processors are busy at once in a step of the share `shorter` of its time; 0
/// if the machine was not sampled.
double all_busy(const RuleContext& context, double shorter) {
  const auto used = counters::steady(context, counters::kMachineCpu);
  const double busy = used ? std::clamp(used->mean / 100 / std::max(shorter, 0.01), 0.0, 1.0) : 0.0;
  return std::pow(busy, std::max<std::int64_t>(1, processor_count(context.trace)));
}

}  // namespace

DurationNs hand_over(const RuleContext& context, double busy) {
  if (!context.program.uses(Framework::kPyTorch)) return {};
  const auto tensors = static_cast<double>(tensors_of_batch(context.trace));
  return {std::llround(std::lerp(kHandOverNs, kHandOverBusyNs, busy) +
                       tensors * std::lerp(kTensorNs, kTensorBusyNs, busy))};
}

std::optional<DurationNs> ready_hand_over(const trace::Trace& trace, const ProgramFacts& program) {
  if (!program.uses(Framework::kPyTorch)) return std::nullopt;
  const auto tensors = static_cast<double>(tensors_of_batch(trace));
  return DurationNs{std::llround(kHandOverNs + tensors * kTensorNs)};
}

double processors_wanted(const RuleContext& context) {
  const auto pressure = counters::steady(context, "machine.pressure_cpu");
  return pressure ? std::clamp(pressure->mean / 100, 0.0, 1.0) : all_busy(context, 1);
}

double processors_wanted(const RuleContext& context, double shorter) {
  const auto pressure = counters::steady(context, "machine.pressure_cpu");
  return std::clamp(std::max(pressure ? pressure->mean / 100 : 0.0, all_busy(context, shorter)),
                    0.0, 1.0);
}

DurationNs beside_hand_over(const RuleContext& context) {
  const bool computes = context.trace.device_ops.size() == 0;
  return computes && context.program.uses(Framework::kPyTorch) ? kBeside : DurationNs{};
}

}  // namespace headway::analyzer
