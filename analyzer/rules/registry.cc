// SPDX-License-Identifier: MIT
#include "analyzer/rules/registry.h"

#include <array>

namespace headway::analyzer {

std::span<const Rule* const> all_rules() {
  static constexpr auto kRules = std::to_array<const Rule*>({
      &kInputBound,
      &kSmallFiles,
      &kHostSync,
      &kHostRoundTrip,
      &kLaunchBound,
      &kCopyNotOverlapped,
      &kNoTensorCores,
      &kUnfusedAttention,
      &kUnfusedElementwise,
      &kAmpCasts,
      &kLayoutTransposes,
      &kUnfusedOptimizer,
      &kSerialPerSample,
      &kRnnNotPersistent,
      &kSlowStridedDgrad,
      &kLowOccupancy,
  });
  return kRules;
}

}  // namespace headway::analyzer
