// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// An optimizer that updates its parameters on processors, as the PyTorch hook tells it.
struct OptimizerCalls {
  std::string_view missing;  ///< why nothing is known of one; empty when it is
  std::string_view name;     ///< "AdamW"
  std::string_view flags;    ///< "AdamW tensors=62 elements=123456 device=cpu …", as recorded
  std::int64_t tensors = 0;
  std::int64_t elements = 0;
  const DevicePartition* partition = nullptr;  ///< of the thread that spends most on it
  DurationNs per_step;
  /// Of that time, what the fused implementation takes: expected, at least, at most.
  double fused_share = 1;
  double least = 1;
  double most = 1;
};
OptimizerCalls find_optimizer_calls(const RuleContext& context);

}  // namespace headway::analyzer
