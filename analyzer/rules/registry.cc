// SPDX-License-Identifier: MIT
#include "analyzer/rules/registry.h"

#include <array>

namespace headway::analyzer {

std::span<const Rule* const> all_rules() {
  static constexpr std::array<const Rule*, 13> kRules = {
      &kInputBound,        &kSmallFiles,         &kHostSync,         &kLaunchBound,
      &kCopyNotOverlapped, &kUnfusedElementwise, &kUnfusedOptimizer,
      &kStraggler,         &kUnevenBatches,      &kCommExposed,      &kCommNotOverlapped,
      &kCommTooSmall,      &kCommSlowLink,
  };
  return kRules;
}

}  // namespace headway::analyzer
