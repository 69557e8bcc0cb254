// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// An optimizer that updates its parameters on the CPU, as the PyTorch hook reports it.
struct OptimizerCalls {
  std::string_view missing;  ///< why nothing can be said of it; empty if something can
  std::string_view name;     ///< "AdamW"
  std::string_view flags;    ///< "AdamW tensors=62 elements=123456 device=cpu …", as recorded
  std::int64_t tensors = 0;
  std::int64_t elements = 0;
  const DevicePartition* partition = nullptr;  ///< of the thread that spends most time on it
  DurationNs per_step;
  /// Time of the fused implementation as a share of `per_step`: expected, at least, at most.
  double fused_share = 1;
  double least = 1;
  double most = 1;
};
OptimizerCalls find_optimizer_calls(const RuleContext& context);

}  // namespace headway::analyzer
