// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/time.h"

namespace headway::planted {

/// One line of a case file and the lines indented under it.
struct Statement {
  std::string keyword;
  std::vector<std::string> arguments;                          ///< in order, quotes removed
  std::map<std::string, std::string, std::less<>> attributes;  ///< key=value; flags have ""
  std::vector<Statement> body;
  const std::string* file = nullptr;
  int line = 0;

  bool has(std::string_view attribute) const { return attributes.contains(attribute); }
  /// The text of an attribute, or `fallback`.
  std::string text(std::string_view attribute, std::string_view fallback = "") const;
  std::int64_t integer(std::string_view attribute, std::int64_t fallback) const;
  DurationNs duration(std::string_view attribute, DurationNs fallback) const;
  std::int64_t bytes(std::string_view attribute, std::int64_t fallback) const;
  double share(std::string_view attribute, double fallback) const;
  /// True when `value` is in the comma-separated list or ranges ("1,4-7") of the attribute.
  bool lists(std::string_view attribute, std::int64_t value) const;

  const std::string& argument(std::size_t index, std::string_view meaning) const;
  DurationNs duration_argument(std::size_t index) const;
  std::int64_t bytes_argument(std::size_t index) const;
  std::int64_t integer_argument(std::size_t index) const;

  /// Throws Error(kBadInput): "FILE:LINE: MESSAGE".
  [[noreturn]] void fail(const std::string& message) const;
};

/// What a keyword may carry; parser, checks and README come from this list.
struct Keyword {
  std::string_view name;
  std::string_view arguments;  ///< for people: "NAME DURATION"
  std::size_t min_arguments;
  std::size_t max_arguments;
  std::string_view attributes;  ///< separated by spaces
  bool has_body;
};
const Keyword* find_keyword(std::string_view name);

/// Statements by indentation; every keyword, attribute and number of arguments is checked.
/// `file` must outlive the result. Throws Error(kBadInput) with file, line and what was expected.
std::vector<Statement> parse_statements(const std::string& file, std::string_view text);

}  // namespace headway::planted
