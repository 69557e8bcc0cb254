// SPDX-License-Identifier: MIT
#pragma once

#include <utility>
#include <vector>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// Data gradients that take so many times as long as their forward passes are slow.
inline constexpr double kSlowGradient = 2.5;

/// Data gradients of convolutions on one device, per steady step, and those that are slow.
struct Gradients {
  DurationNs recoverable;
  DurationNs time;    ///< of the slow ones
  DurationNs all;     ///< of all data gradients
  DurationNs linked;  ///< of those whose forward pass is known
  std::size_t slow = 0;
  bool by_name = false;  ///< no forward pass is known: slow by their kernels' names
  std::vector<Evidence> evidence;
  /// Each slow kernel of the steady steps, and the share of its time that a better algorithm would take.
  std::vector<std::pair<trace::DeviceOpId, double>> kernels;
};

Gradients measure_gradients(const RuleContext& context, const DevicePartition& device,
                            const KernelWork& work);

}  // namespace headway::analyzer
