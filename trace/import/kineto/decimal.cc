// SPDX-License-Identifier: MIT
#include "trace/import/kineto/decimal.h"

#include <limits>

namespace headway::trace::kineto {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The digits of a number as an integer and the power of ten to scale it with.
struct Digits {
  std::uint64_t mantissa = 0;
  std::int64_t exponent = 0;
};

/// From this value on no further digit fits. Digits after the point are then below any clock's
/// resolution and are dropped; with more digits before the point the number does not fit.
constexpr std::uint64_t kMostMantissa = (std::numeric_limits<std::uint64_t>::max() - 9) / 10;

bool read_digits(std::string_view text, Digits& out) {
  std::size_t i = 0;
  bool any = false;
  for (; i < text.size() && is_digit(text[i]); ++i, any = true) {
    if (out.mantissa > kMostMantissa) return false;
    out.mantissa = out.mantissa * 10 + static_cast<std::uint64_t>(text[i] - '0');
  }
  if (i < text.size() && text[i] == '.') {
    for (++i; i < text.size() && is_digit(text[i]); ++i, any = true) {
      if (out.mantissa > kMostMantissa) continue;
      out.mantissa = out.mantissa * 10 + static_cast<std::uint64_t>(text[i] - '0');
      --out.exponent;
    }
  }
  if (!any) return false;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    bool negative = i < text.size() && text[i] == '-';
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (i == text.size()) return false;
    std::int64_t exponent = 0;
    for (; i < text.size() && is_digit(text[i]); ++i) {
      if (exponent < 10000) exponent = exponent * 10 + (text[i] - '0');
    }
    out.exponent += negative ? -exponent : exponent;
  }
  return i == text.size();
}

}  // namespace

bool parse_scaled(std::string_view token, int scale, std::int64_t& value) {
  std::string_view text = unquoted(token);
  bool negative = !text.empty() && text.front() == '-';
  if (negative || (!text.empty() && text.front() == '+')) text.remove_prefix(1);
  Digits digits;
  if (!read_digits(text, digits)) return false;
  std::uint64_t magnitude = digits.mantissa;
  std::int64_t power = digits.exponent + scale;
  if (magnitude == 0) power = 0;
  if (power < -19) {
    magnitude = 0;
    power = 0;
  }
  for (; power > 0; --power) {
    if (magnitude > kMostMantissa) return false;
    magnitude *= 10;
  }
  if (power < 0) {
    std::uint64_t divisor = 1;
    for (; power < 0; ++power) divisor *= 10;
    std::uint64_t rest = magnitude % divisor;
    magnitude = magnitude / divisor + (rest >= divisor - rest ? 1 : 0);
  }
  if (magnitude > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return false;
  value = static_cast<std::int64_t>(magnitude);
  if (negative) value = -value;
  return true;
}

}  // namespace headway::trace::kineto
