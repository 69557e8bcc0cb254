// SPDX-License-Identifier: MIT
#include "analyzer/check/budget.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <array>
#include <charconv>

#include "common/error.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

/// Where a value stands, for messages: "headway.toml:3".
std::string place(const std::filesystem::path& path, const toml::node& node) {
  return fmt::format("{}:{}", path.string(), node.source().begin.line);
}

std::optional<double> number(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '%')) text.remove_suffix(1);
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Limit parse_limit(const std::string& metric, const toml::node& node, const std::string& where) {
  Limit limit{metric, Limit::Op::kLessEqual, 0, ""};
  if (auto plain = node.value<double>(); plain && !node.is_string()) {
    limit.value = *plain;
    limit.text = fmt::format("<= {:g}", *plain);
    return limit;
  }
  std::string text = node.value<std::string>().value_or("");
  limit.text = text;
  // A finding that is forbidden must not recover anything; rules report 0 when they are fine.
  if (text == "forbid") return limit;
  struct Prefix {
    std::string_view text;
    Limit::Op op;
  };
  static constexpr std::array<Prefix, 4> kPrefixes = {{{"<=", Limit::Op::kLessEqual},
                                                       {">=", Limit::Op::kGreaterEqual},
                                                       {"<", Limit::Op::kLess},
                                                       {">", Limit::Op::kGreater}}};
  std::string_view rest = text;
  for (const Prefix& prefix : kPrefixes) {
    if (!rest.starts_with(prefix.text)) continue;
    limit.op = prefix.op;
    rest.remove_prefix(prefix.text.size());
    break;
  }
  auto value = number(rest);
  if (!value)
    fail_input(
        "{}: {} = '{}': expected a limit such as \"< 120\", \"<= 5 %\", \">= 95\", a number, or "
        "\"forbid\".",
        where, metric, text);
  limit.value = *value;
  return limit;
}

void collect(const toml::table& table, const std::string& prefix, const std::filesystem::path& path,
             const std::vector<Metric>& known, std::vector<Limit>& out) {
  for (const auto& [key, node] : table) {
    std::string name =
        prefix.empty() ? std::string(key.str()) : fmt::format("{}.{}", prefix, key.str());
    if (const toml::table* inner = node.as_table()) {
      collect(*inner, name, path, known, out);
      continue;
    }
    auto is_it = [&](const Metric& metric) { return metric.name == name; };
    if (std::none_of(known.begin(), known.end(), is_it)) {
      std::vector<std::string> names;
      for (const Metric& metric : known) names.push_back(metric.name);
      std::vector<std::string> near = closest(name, names);
      fail_input("{}: '{}' is not a metric.{} `headway check --list` shows all.", place(path, node),
                 name, near.empty() ? "" : fmt::format(" Did you mean {}?", fmt::join(near, ", ")));
    }
    out.push_back(parse_limit(name, node, place(path, node)));
  }
}

bool keeps(const Limit& limit, double actual) {
  switch (limit.op) {
    case Limit::Op::kLess:
      return actual < limit.value;
    case Limit::Op::kLessEqual:
      return actual <= limit.value;
    case Limit::Op::kGreater:
      return actual > limit.value;
    case Limit::Op::kGreaterEqual:
      return actual >= limit.value;
  }
  return false;
}

}  // namespace

std::vector<Limit> read_budget(const std::filesystem::path& path,
                               const std::vector<Metric>& known) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    fail_input(
        "{}: no such file. Expected a TOML budget, e.g. [step_ms] p50 = \"< 120\"; see "
        "docs/user-guide/check.md.",
        path.string());
  }
  toml::table table;
  try {
    table = toml::parse_file(path.string());
  } catch (const toml::parse_error& error) {
    fail_input("{}:{}: not valid TOML: {}.", path.string(), error.source().begin.line,
               error.description());
  }
  std::vector<Limit> limits;
  collect(table, "", path, known, limits);
  if (limits.empty())
    fail_input(
        "{}: holds no limit, so nothing would be checked. Add one, e.g. [step_ms] p50 = \"< 120\".",
        path.string());
  return limits;
}

std::vector<LimitResult> check_budget(const std::vector<Limit>& limits,
                                      const std::vector<Metric>& metrics) {
  std::vector<LimitResult> results;
  for (const Limit& limit : limits) {
    LimitResult result{limit, "", std::nullopt, LimitResult::Outcome::kCannotTell};
    for (const Metric& metric : metrics) {
      if (metric.name != limit.metric) continue;
      result.unit = metric.unit;
      result.actual = metric.value;
      if (metric.value)
        result.outcome = keeps(limit, *metric.value) ? LimitResult::Outcome::kKept
                                                     : LimitResult::Outcome::kBroken;
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace headway::analyzer
