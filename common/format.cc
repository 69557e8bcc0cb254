// SPDX-License-Identifier: MIT
#include "common/format.h"

#include <fmt/format.h>

#include <array>
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
  double ns = static_cast<double>(duration.ns);
  double magnitude = std::fabs(ns);
  if (magnitude < 999.5) return fmt::format("{} ns", duration.ns);
  static constexpr std::array<Unit, 3> kUnits = {{{1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}};
  for (const Unit& unit : kUnits) {
    if (magnitude < 999.5 * unit.scale && !(unit.scale == 1e9 && magnitude >= 120e9)) {
      return three_digits(ns / unit.scale) + " " + unit.name;
    }
  }
  std::int64_t seconds = std::llround(magnitude * 1e-9);
  const char* sign = ns < 0 ? "-" : "";
  if (seconds < 7200) return fmt::format("{}{} min {:02} s", sign, seconds / 60, seconds % 60);
  return fmt::format("{}{} h {:02} min", sign, seconds / 3600, seconds / 60 % 60);
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
  if (percent != 0 && std::fabs(percent) < 0.05) return percent > 0 ? "<0.1 %" : ">-0.1 %";
  return fmt::format("{:.1f} %", percent);
}

}  // namespace headway
