// SPDX-License-Identifier: MIT
// Reading a budget: TOML in, limits out, every mistake named.
#include "analyzer/check/budget.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <array>
#include <charconv>

#include "common/error.h"
#include "common/read_file.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

/// Where a value stands, for messages: "headway.toml:3".
std::string place(const std::filesystem::path& path, const toml::node& node) {
  return fmt::format("{}:{}", path.string(), node.source().begin.line);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<double> number(std::string_view text, std::string_view unit) {
  text = trimmed(text);
  if (!unit.empty() && text.ends_with(unit)) text.remove_suffix(unit.size());
  text = trimmed(text);
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// What a key may limit.
struct Known {
  std::string unit;
  bool is_finding = false;
  bool is_baseline = false;
};

std::optional<Known> known_metric(const std::string& name, const std::vector<Metric>& fixed) {
  for (const Metric& metric : fixed) {
    if (metric.name == name)
      return Known{metric.unit, name.starts_with("finding."), name.starts_with("vs_baseline.")};
  }
  if (auto named = named_metric_key(name)) return Known{std::string(named->metric->unit)};
  return std::nullopt;
}

/// Reads one budget file.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : known_(metrics({}, {})) {
    budget_.path = path;
    for (Metric& metric : baseline_metrics()) known_.push_back(std::move(metric));
  }

  Budget read(const toml::table& table) {
    collect(table, "");
    if (budget_.limits.empty())
      fail_input(
          "{}: contains no limit. Add one, e.g. [step_ms] p50 = \"< 120\", or let `headway check "
          "TRACE --init` write a first budget.",
          budget_.path.string());
    std::stable_sort(budget_.limits.begin(), budget_.limits.end(),
                     [](const Limit& a, const Limit& b) { return a.line < b.line; });
    return std::move(budget_);
  }

 private:
  void collect(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      std::string name =
          prefix.empty() ? std::string(key.str()) : fmt::format("{}.{}", prefix, key.str());
      const toml::table* inner = node.as_table();
      if (prefix.empty() && key.str() == "options")
        read_options(node);
      else if (inner && !inner->contains("limit"))
        collect(*inner, name);
      else
        add_limit(name, node);
    }
  }

  void read_options(const toml::node& node) {
    const toml::table* options = node.as_table();
    if (!options)
      fail_input("{}: options: expected a table, [options].", place(budget_.path, node));
    for (const auto& [key, value] : *options) {
      std::string_view name = key.str();
      std::string where = place(budget_.path, value);
      auto wrong = [&](std::string_view expected) {
        fail_input("{}: options.{}: expected {}.", where, name, expected);
      };
      if (name == "step_range") {
        if (!value.is_string()) wrong("the name of a range, e.g. \"epoch*\"");
        budget_.analysis.steps.range = value.value<std::string>().value_or("");
      } else if (name == "skip_steps") {
        auto skip = value.value<std::int64_t>();
        if (!value.is_integer() || !skip || *skip < 0 || *skip > INT32_MAX)
          wrong("a number of steps, e.g. 10");
        budget_.analysis.steps.skip = static_cast<int>(*skip);
      } else if (name == "baseline") {
        if (!value.is_string()) wrong("a trace file, e.g. \"base.sqlite\"");
        std::filesystem::path base = value.value<std::string>().value_or("");
        budget_.baseline = (base.is_absolute() ? base : budget_.path.parent_path() / base).string();
      } else if (name == "allow_unknown") {
        if (!value.is_boolean()) wrong("true or false");
        budget_.allow_unknown = value.value<bool>().value_or(false);
      } else {
        unknown(where, fmt::format("options.{}", name), "an option",
                {"options.step_range", "options.skip_steps", "options.baseline",
                 "options.allow_unknown"});
      }
    }
  }

  [[noreturn]] void unknown(const std::string& where, const std::string& name,
                            std::string_view what, const std::vector<std::string>& legal) {
    std::vector<std::string> near = closest(name, legal);
    fail_input(
        "{}: '{}' is not {}.{}", where, name, what,
        near.empty()
            ? std::string(" `headway check TRACE --list` shows all metrics.")
            : fmt::format(" Did you mean {}? `headway check TRACE --list` shows all metrics.",
                          fmt::join(near, ", ")));
  }

  /// `"< 120"`, a number, or { limit = "< 120", severity = "warn" }.
  void add_limit(const std::string& name, const toml::node& node) {
    std::string where = place(budget_.path, node);
    std::optional<Known> known = known_metric(name, known_);
    if (!known) {
      std::vector<std::string> legal;
      for (const Metric& metric : known_) legal.push_back(metric.name);
      for (const NamedMetric& metric : named_metrics())
        legal.push_back(fmt::format("{}.NAME.{}", metric.kind, metric.field));
      unknown(where, name, "a metric", legal);
    }
    Limit limit{
        .metric = name, .text = {}, .line = static_cast<std::uint32_t>(node.source().begin.line)};
    const toml::node* value = &node;
    if (const toml::table* table = node.as_table()) {
      for (const auto& [key, entry] : *table) {
        std::string severity = entry.value<std::string>().value_or("");
        if (key.str() == "limit")
          value = &entry;
        else if (key.str() != "severity" || (severity != "error" && severity != "warn"))
          fail_input(
              "{}: {}: expected {{ limit = \"…\", severity = \"error\" }}, and the severity error "
              "or "
              "warn.",
              where, name);
        else
          limit.only_warn = severity == "warn";
      }
    }
    parse(limit, *known, *value, where);
    budget_.limits.push_back(std::move(limit));
  }

  static void parse(Limit& limit, const Known& known, const toml::node& node,
                    const std::string& where) {
    if (known.is_baseline) limit.kind = Limit::Kind::kBaseline;
    if (auto plain = node.value<double>(); plain && !node.is_string()) {
      limit.value = *plain;
      limit.text = fmt::format("<= {:g}", *plain);
    } else {
      limit.text = node.value<std::string>().value_or("");
      if (known.is_finding && parse_word(limit)) return;
      if (!parse_bound(limit, known.unit)) fail_bound(limit, known, where);
    }
    if (known.is_baseline && (limit.value < 0 || limit.op == Limit::Op::kGreater ||
                              limit.op == Limit::Op::kGreaterEqual))
      fail_bound(limit, known, where);
  }

  static bool parse_word(Limit& limit) {
    if (limit.text == "forbid" || limit.text == "warn") {
      limit.kind = Limit::Kind::kForbid;
      limit.only_warn = limit.only_warn || limit.text == "warn";
    } else if (limit.text == "allow") {
      limit.kind = Limit::Kind::kAllow;
    } else {
      return false;
    }
    return true;
  }

  static bool parse_bound(Limit& limit, std::string_view unit) {
    struct Prefix {
      std::string_view text;
      Limit::Op op;
    };
    static constexpr std::array<Prefix, 5> kPrefixes = {{{"<=", Limit::Op::kLessEqual},
                                                         {">=", Limit::Op::kGreaterEqual},
                                                         {"<", Limit::Op::kLess},
                                                         {">", Limit::Op::kGreater},
                                                         {"+", Limit::Op::kLessEqual}}};
    std::string_view rest = trimmed(limit.text);
    for (const Prefix& prefix : kPrefixes) {
      if (!rest.starts_with(prefix.text)) continue;
      if (prefix.text == "+" && limit.kind != Limit::Kind::kBaseline) return false;
      limit.op = prefix.op;
      rest.remove_prefix(prefix.text.size());
      break;
    }
    auto value = number(rest, unit);
    if (!value) return false;
    limit.value = *value;
    return true;
  }

  [[noreturn]] static void fail_bound(const Limit& limit, const Known& known,
                                      const std::string& where) {
    fail_input("{}: {} = '{}': expected {}.", where, limit.metric, limit.text,
               known.is_baseline ? "a growth limit such as \"+3%\""
               : known.is_finding
                   ? "\"forbid\", \"warn\", \"allow\", or a limit such as \"< 10 %\""
                   : "a limit such as \"< 120\", \"<= 5 %\", \">= 95\", or a number");
  }

  Budget budget_;
  std::vector<Metric> known_;
};

/// The parser, and the code that walks its result, recurse as deep as keys are nested. A key of a budget has
/// at most five parts; dots within quotes are counted, too, which does no harm.
void check_depth(const std::filesystem::path& path, std::string_view text) {
  constexpr std::int64_t kMostDots = 32;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view content = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(content.size() + 1, text.size()));
    const std::string_view key = content.substr(0, content.find('#'));
    if (std::count(key.begin(), key.end(), '.') > kMostDots)
      fail_input(
          "{}:{}: keys nested more than {} deep. A budget has two levels: [step_ms] p50 = \"< "
          "120\"; `headway check TRACE --list` shows all metrics.",
          path.string(), line, kMostDots);
  }
}

}  // namespace

bool Budget::needs_baseline() const {
  return std::any_of(limits.begin(), limits.end(),
                     [](const Limit& limit) { return limit.kind == Limit::Kind::kBaseline; });
}

Budget read_budget(const std::filesystem::path& path) {
  constexpr std::size_t kMostBytes = 1 << 20;
  const std::string text = read_file(path, kMostBytes,
                                     "Expected a TOML budget, e.g. [step_ms] p50 = \"< 120\"; "
                                     "`headway check TRACE --init` writes a "
                                     "first one from a trace.");
  check_depth(path, text);
  toml::table table;
  try {
    table = toml::parse(text, path.string());
  } catch (const toml::parse_error& error) {
    fail_input("{}:{}: not valid TOML: {}.", path.string(), error.source().begin.line,
               error.description());
  }
  return Reader(path).read(table);
}

}  // namespace headway::analyzer
