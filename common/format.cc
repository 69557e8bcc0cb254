// SPDX-License-Identifier: MIT
#include "common/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace headway {
namespace {

/// Three significant digits without an exponent; 999.6 rounds to "1000", which the callers avoid by
/// stepping up.
std::string three_digits(double value) {
  double magnitude = std::fabs(value);
  int decimals = magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", value, decimals);
}

struct Unit {
  double scale;
  const char* name;
};

}  // namespace

std::string format_duration(DurationNs duration) {
  // A true minus, as wide as a plus and never taken for a hyphen at the end of a line.
  if (duration.ns < 0)
    return "−" + format_duration({duration.ns == INT64_MIN ? INT64_MAX : -duration.ns});
  const double ns = static_cast<double>(duration.ns);
  if (ns < 999.5) return fmt::format("{} ns", duration.ns);
  static constexpr std::array<Unit, 3> kUnits = {{{1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}};
  for (const Unit& unit : kUnits) {
    if (ns < 999.5 * unit.scale && !(unit.scale == 1e9 && ns >= 120e9)) {
      return three_digits(ns / unit.scale) + " " + unit.name;
    }
  }
  const std::int64_t seconds = std::llround(ns * 1e-9);
  if (seconds < 7200) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
}

std::string format_time(TimeNs time) {
  std::int64_t us = time.ns / 1000;
  return fmt::format("{}{}.{:06} s", us < 0 ? "-" : "", std::llabs(us) / 1'000'000,
                     std::llabs(us) % 1'000'000);
}

std::string format_bytes(std::int64_t bytes) {
  double value = static_cast<double>(bytes);
  if (std::fabs(value) < 999.5) return fmt::format("{} B", bytes);
  static constexpr std::array<Unit, 5> kUnits = {
      {{1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}, {1e15, "PB"}}};
  for (const Unit& unit : kUnits) {
    if (std::fabs(value) < 999.5 * unit.scale)
      return three_digits(value / unit.scale) + " " + unit.name;
  }
  return fmt::format("{:.0f} PB", value / 1e15);
}

std::string format_count(std::int64_t count) {
  std::string digits = std::to_string(count);
  std::string result;
  std::size_t first = digits[0] == '-' ? 1 : 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > first && (digits.size() - i) % 3 == 0) result += "\u202f";
    result += digits[i];
  }
  return result;
}

std::string format_percent(double ratio) {
  double percent = ratio * 100;
  if (percent != 0 && std::fabs(percent) < 0.05) return percent > 0 ? "<0.1 %" : ">−0.1 %";
  return format_number(percent) + " %";
}

std::string format_number(double value, int decimals) {
  const std::string digits = fmt::format("{:.{}f}", std::fabs(value), decimals);
  const bool zero = digits.find_first_of("123456789") == std::string::npos;
  return value < 0 && !zero ? "−" + digits : digits;
}

std::string format_signed(double value, int decimals) {
  const std::string number = format_number(value, decimals);
  return number.starts_with("−") ? number : "+" + number;
}

std::string format_change(DurationNs change) {
  if (change.ns == 0) return "±0";
  return (change.ns > 0 ? "+" : "") + format_duration(change);
}

std::string keep_units(std::string_view text) {
  static constexpr std::array<std::string_view, 14> kUnits = {
      "%", "ns", "µs", "ms", "s", "min", "h", "B", "kB", "MB", "GB", "TB", "PB", "×"};
  auto letter = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) != 0 || byte >= 0x80 || c == '_';
  };
  std::string out;
  out.reserve(text.size() + text.size() / 16);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ' ' || i == 0 || !std::isdigit(static_cast<unsigned char>(text[i - 1]))) {
      out += text[i];
      continue;
    }
    const std::string_view rest = text.substr(i + 1);
    const bool unit = std::any_of(kUnits.begin(), kUnits.end(), [&](std::string_view one) {
      return rest.starts_with(one) && (rest.size() == one.size() || !letter(rest[one.size()]));
    });
    out += unit ? "\u00a0" : " ";
  }
  return out;
}

}  // namespace headway
