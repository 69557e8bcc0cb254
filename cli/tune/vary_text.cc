// SPDX-License-Identifier: MIT
#include "cli/tune/vary_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/whatif/fix.h"
#include "common/error.h"
#include "common/text.h"

namespace headway::tune {
namespace {

constexpr std::string_view kForms =
    "Forms: '--num-workers=0,2,4' or '--num-workers 0,2,4' (an argument), '--pin-memory' (an "
    "argument without value, with and without), '--amp|--no-amp' (one of both), "
    "'OMP_NUM_THREADS=1,2' (an environment variable), 'name=a,b' (for {name} or name=… in the "
    "command)";

[[noreturn]] void fail(std::string_view text, std::string_view what) {
  fail_usage("--vary '{}': {}. {}.", escape_terminal(text), escape_terminal(what), kForms);
}

std::vector<std::string> split(std::string_view text, char by) {
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(by, at);
    parts.emplace_back(text.substr(at, end - at));
    if (end == std::string_view::npos) return parts;
    at = end + 1;
  }
}

/// Takes "more-workers+use-workers:" off the front; returns the rest of the text.
std::string_view take_fixes(std::string_view text, VaryText& into) {
  const std::size_t colon = text.find(':');
  const bool is_prefix = colon != std::string_view::npos && colon > 0 && text.front() != '-' &&
                         text.substr(0, colon).find_first_not_of(
                             "abcdefghijklmnopqrstuvwxyz0123456789-+") == std::string_view::npos;
  if (!is_prefix) return text;
  for (const std::string& id : split(text.substr(0, colon), '+')) {
    if (!analyzer::find_fix(id)) {
      fail(into.whole,
           fmt::format("unknown fix '{}'; did you mean {}? `headway whatif --help` lists all", id,
                       fmt::join(closest(id, analyzer::fix_ids()), ", ")));
    }
    into.fixes.push_back(id);
  }
  return text.substr(colon + 1);
}

/// Reads one value from `at` on; `at` then points behind it.
std::string take_value(std::string_view list, std::size_t& at, const std::string& whole,
                       bool& quoted) {
  std::string value;
  quoted = at < list.size() && list[at] == '"';
  if (quoted) {
    const std::size_t end = list.find('"', at + 1);
    if (end == std::string_view::npos) fail(whole, "unclosed double quote");
    value = list.substr(at + 1, end - at - 1);
    at = end + 1;
    if (at < list.size() && list[at] != ',') fail(whole, "missing comma after a quoted value");
    return value;
  }
  for (; at < list.size() && list[at] != ','; ++at) {
    if (list[at] == '\\' && at + 1 < list.size()) ++at;
    value += list[at];
  }
  return value;
}

void parse_values(std::string_view list, VaryText& into) {
  for (std::size_t at = 0;; ++at) {
    bool quoted = false;
    const std::string value = take_value(list, at, into.whole, quoted);
    const bool last = at >= list.size();
    if (value.empty() && !quoted && (!into.values.empty() || last))
      fail(into.whole,
           into.values.empty()
               ? "no values"
               : "missing value at a comma; put the empty value (argument omitted) first");
    if (std::ranges::find(into.values, value) != into.values.end())
      fail(into.whole, fmt::format("duplicate value '{}'", value));
    into.values.push_back(value);
    if (last) return;
  }
}

}  // namespace

VaryText parse_vary_text(std::string_view text) {
  VaryText result;
  result.whole = text;
  const std::string_view rest = take_fixes(text, result);
  const std::size_t separator = rest.find_first_of("= ");
  result.name = rest.substr(0, separator);
  if (result.name.empty() || result.name.find_first_not_of('-') == std::string::npos)
    fail(text, "missing name");
  if (separator == std::string_view::npos) {
    if (!result.name.starts_with('-')) fail(text, "no values");
    if (result.name.find('|') == std::string::npos) return result;
    result.values = split(result.name, '|');
    for (const std::string& one : result.values)
      if (!one.starts_with('-')) fail(text, "alternatives with '|' must be arguments");
    if (result.values[0] == result.values[1]) fail(text, "duplicate argument");
    return result;
  }
  result.has_values = true;
  result.joined = rest[separator] == '=';
  std::size_t begin = separator + 1;
  if (!result.joined) begin = std::min(rest.size(), rest.find_first_not_of(' ', begin));
  if (!result.joined && !result.name.starts_with('-'))
    fail(text, "missing '=' between name and values");
  parse_values(rest.substr(begin), result);
  return result;
}

}  // namespace headway::tune
