// SPDX-License-Identifier: MIT
#include "analyzer/rules/registry.h"

#include <array>

namespace headway::analyzer {

std::span<const Rule* const> all_rules() {
  static constexpr std::array<const Rule*, 7> kRules = {
      &kInputBound,        &kSmallFiles,         &kHostSync,         &kLaunchBound,
      &kCopyNotOverlapped, &kUnfusedElementwise, &kUnfusedOptimizer,
  };
  return kRules;
}

}  // namespace headway::analyzer
