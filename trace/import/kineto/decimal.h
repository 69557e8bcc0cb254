// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

/// Reads numbers in JSON text without floating point: a time with 16 digits and three decimals does
/// not fit into a double.
namespace headway::trace::kineto {

/// value * 10^scale, rounded to the nearest integer; the token may be quoted. False when it is not a
/// number (NaN, Infinity, text) or does not fit.
bool parse_scaled(std::string_view token, int scale, std::int64_t& value);

/// An integer (decimals are rounded away), or `fallback`.
inline std::int64_t integer_or(std::string_view token, std::int64_t fallback) {
  std::int64_t value = 0;
  return parse_scaled(token, 0, value) ? value : fallback;
}

/// Removes the quotes of a string token; escapes stay.
inline std::string_view unquoted(std::string_view token) {
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"')
    return token.substr(1, token.size() - 2);
  return token;
}

}  // namespace headway::trace::kineto
