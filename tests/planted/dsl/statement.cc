// SPDX-License-Identifier: MIT
#include "tests/planted/dsl/statement.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "common/error.h"

namespace headway::planted {
namespace {

using Unit = std::pair<std::string_view, double>;

constexpr std::array<Unit, 4> kTimes = {{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
constexpr std::array<Unit, 13> kSizes = {{{"", 1},
                                          {"B", 1},
                                          {"KB", 1e3},
                                          {"MB", 1e6},
                                          {"GB", 1e9},
                                          {"TB", 1e12},
                                          {"KiB", 1024},
                                          {"MiB", 1048576},
                                          {"GiB", 1073741824},
                                          {"K", 1e3},
                                          {"M", 1e6},
                                          {"G", 1e9},
                                          {"T", 1e12}}};
constexpr std::array<Unit, 1> kPercent = {{{"%", 0.01}}};

template <std::size_t N>
std::optional<double> with_unit(std::string_view text, const std::array<Unit, N>& units) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (suffix.ends_with("/s")) suffix.remove_suffix(2);
  if (suffix == "Hz" || suffix == "MHz") return value * (suffix == "Hz" ? 1 : 1e6);
  for (const auto& [unit, factor] : units) {
    if (suffix == unit) return value * factor;
  }
  return std::nullopt;
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::int64_t rounded(double value) {
  return static_cast<std::int64_t>(std::llround(value));
}

DurationNs read_duration(const Statement& statement, std::string_view text) {
  if (auto value = with_unit(text, kTimes)) return {rounded(*value)};
  statement.fail(fmt::format("'{}' is no duration; expected a number with ns, us, ms or s", text));
}

std::int64_t read_bytes(const Statement& statement, std::string_view text) {
  if (auto value = with_unit(text, kSizes)) return rounded(*value);
  statement.fail(
      fmt::format("'{}' is no amount; expected a number with B, KB, MB, GB, KiB, MiB, GiB, K, M, G "
                  "or none",
                  text));
}

std::int64_t read_integer(const Statement& statement, std::string_view text) {
  if (auto value = whole(text)) return *value;
  statement.fail(fmt::format("'{}' is no whole number", text));
}

}  // namespace

std::string Statement::text(std::string_view attribute, std::string_view fallback) const {
  auto found = attributes.find(attribute);
  return found == attributes.end() ? std::string(fallback) : found->second;
}

std::int64_t Statement::integer(std::string_view attribute, std::int64_t fallback) const {
  auto found = attributes.find(attribute);
  return found == attributes.end() ? fallback : read_integer(*this, found->second);
}

DurationNs Statement::duration(std::string_view attribute, DurationNs fallback) const {
  auto found = attributes.find(attribute);
  return found == attributes.end() ? fallback : read_duration(*this, found->second);
}

std::int64_t Statement::bytes(std::string_view attribute, std::int64_t fallback) const {
  auto found = attributes.find(attribute);
  return found == attributes.end() ? fallback : read_bytes(*this, found->second);
}

double Statement::share(std::string_view attribute, double fallback) const {
  auto found = attributes.find(attribute);
  if (found == attributes.end()) return fallback;
  if (auto value = with_unit(found->second, kPercent)) return *value;
  fail(fmt::format("{}={}: expected a percentage such as 5%", attribute, found->second));
}

bool Statement::lists(std::string_view attribute, std::int64_t value) const {
  std::string all = text(attribute);
  std::string_view rest = all;
  while (!rest.empty()) {
    std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    std::size_t dash = item.find('-');
    std::int64_t first = read_integer(*this, item.substr(0, dash));
    std::int64_t last =
        dash == std::string_view::npos ? first : read_integer(*this, item.substr(dash + 1));
    if (first <= value && value <= last) return true;
  }
  return false;
}

const std::string& Statement::argument(std::size_t index, std::string_view meaning) const {
  if (index >= arguments.size()) fail(fmt::format("'{}' needs {}", keyword, meaning));
  return arguments[index];
}

DurationNs Statement::duration_argument(std::size_t index) const {
  return read_duration(*this, argument(index, "a duration"));
}

std::int64_t Statement::bytes_argument(std::size_t index) const {
  return read_bytes(*this, argument(index, "an amount in bytes"));
}

std::int64_t Statement::integer_argument(std::size_t index) const {
  return read_integer(*this, argument(index, "a whole number"));
}

void Statement::fail(const std::string& message) const {
  fail_input("{}:{}: {}", file ? *file : std::string("case"), line, message);
}

}  // namespace headway::planted
