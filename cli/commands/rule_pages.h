// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

namespace headway::cli {

/// A page of docs/rules/ as it was at build time.
struct RulePage {
  std::string_view rule;
  std::string_view markdown;
};
std::span<const RulePage> rule_pages();

}  // namespace headway::cli
