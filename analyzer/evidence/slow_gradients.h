// SPDX-License-Identifier: MIT
#pragma once

#include <utility>
#include <vector>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// A data gradient is slow if it takes more than this many times as long as its forward pass.
inline constexpr double kSlowGradient = 2.5;

/// Data gradients of convolutions on one device, per steady step, and those that are slow.
struct Gradients {
  DurationNs recoverable;
  DurationNs time;    ///< of the slow ones
  DurationNs all;     ///< of all data gradients
  DurationNs linked;  ///< of the data gradients with a known forward pass
  std::size_t slow = 0;
  bool by_name = false;  ///< judged by kernel names, because no forward pass shows a slow one
  std::vector<Evidence> evidence;
  /// Each slow kernel of the steady steps, and the share of its time that a better algorithm needs.
  std::vector<std::pair<trace::DeviceOpId, double>> kernels;
};

Gradients measure_gradients(const RuleContext& context, const DevicePartition& device,
                            const KernelWork& work);

}  // namespace headway::analyzer
