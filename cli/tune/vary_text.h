// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headway::tune {

/// A text of --vary in parts, before the command is looked at.
struct VaryText {
  std::string whole;
  std::vector<std::string> fixes;  ///< of "more-workers+use-workers:--nw=0,2"
  std::string name;                ///< "--nw", or all words of "--amp|--no-amp" with their bars
  bool has_values = false;         ///< false: a flag, or alternatives
  bool joined = false;             ///< '=' stands between name and values, not a space
  std::vector<std::string> values;
};

/// Commas separate values; in a value they stand in double quotes or behind a backslash. An empty value stands first, or in quotes.
/// Throws Error(kUsage) that says what is wrong, and how it is written.
VaryText parse_vary_text(std::string_view text);

}  // namespace headway::tune
