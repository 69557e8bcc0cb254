// SPDX-License-Identifier: MIT
#include "common/csv.h"

#include <algorithm>

#include "common/text.h"

namespace headway {

std::string csv_field(std::string_view text) {
  std::string safe;
  if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos)
    safe = "'";
  // Line breaks and tabs are data in CSV; every other control character is made harmless.
  for (std::string_view rest = text; !rest.empty();) {
    std::size_t stop = std::min(rest.find_first_of("\n\t"), rest.size());
    safe += escape_terminal(rest.substr(0, stop));
    if (stop < rest.size()) safe += rest[stop++];
    rest.remove_prefix(stop);
  }
  if (safe.find_first_of(",\"\n") == std::string::npos) return safe;
  std::string quoted = "\"";
  for (char c : safe) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace headway
