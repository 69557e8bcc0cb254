// SPDX-License-Identifier: MIT
#include "analyzer/rules/registry.h"

#include <array>

namespace headway::analyzer {

std::span<const Rule* const> all_rules() {
#define HEADWAY_ADDRESS(name) &name,
  static constexpr auto kRules = std::to_array<const Rule*>({HEADWAY_RULES(HEADWAY_ADDRESS)});
#undef HEADWAY_ADDRESS
  return kRules;
}

}  // namespace headway::analyzer
