// SPDX-License-Identifier: MIT
#include "analyzer/whatif/hand_over.h"

#include <cmath>

#include "analyzer/evidence/loader.h"

namespace headway::analyzer {
namespace {

constexpr double kHandOverNs = 200e3;
constexpr double kHandOverBusyNs = 1000e3;
constexpr double kTensorNs = 150e3;
constexpr double kTensorBusyNs = 450e3;
constexpr DurationNs kBeside{300'000};

}  // namespace

DurationNs hand_over(const RuleContext& context, double busy) {
  if (!context.program.uses(Framework::kPyTorch)) return {};
  const auto tensors = static_cast<double>(tensors_of_batch(context.trace));
  return {std::llround(std::lerp(kHandOverNs, kHandOverBusyNs, busy) +
                       tensors * std::lerp(kTensorNs, kTensorBusyNs, busy))};
}

DurationNs beside_hand_over(const RuleContext& context) {
  const bool computes = context.trace.device_ops.size() == 0;
  return computes && context.program.uses(Framework::kPyTorch) ? kBeside : DurationNs{};
}

}  // namespace headway::analyzer
