// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headway::tune {

/// The parsed text of one --vary option, before it is compared with the command.
struct VaryText {
  std::string whole;
  std::vector<std::string> fixes;  ///< of "more-workers+use-workers:--nw=0,2"
  std::string name;                ///< "--nw", or all words of "--amp|--no-amp" with their bars
  bool has_values = false;         ///< false: a flag or alternatives
  bool joined = false;             ///< '=' stands between name and values, not a space
  std::vector<std::string> values;
};

/// Commas separate values; a comma in a value needs double quotes or a backslash. An empty value
/// comes first, or in quotes. Throws Error(kUsage) that says what is wrong and shows the correct
/// syntax.
VaryText parse_vary_text(std::string_view text);

}  // namespace headway::tune
