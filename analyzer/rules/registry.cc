// SPDX-License-Identifier: MIT
#include "analyzer/rules/registry.h"

#include <array>

namespace headway::analyzer {

std::span<const Rule* const> all_rules() {
  static constexpr auto kRules = std::to_array<const Rule*>({
      &kInputBound,
      &kWorkersStarved,
      &kWorkersOversubscribed,
      &kSmallFiles,
      &kSlowStorage,
      &kHostSync,
      &kModuleLoad,
      &kAllocator,
      &kLaunchBound,
      &kCopyNotOverlapped,
      &kPageableCopy,
      &kMemoryHeadroom,
      &kClockThrottled,
      &kUnfusedElementwise,
      &kUnfusedOptimizer,
      &kStepOutlier,
      &kLongStartup,
  });
  return kRules;
}

}  // namespace headway::analyzer
