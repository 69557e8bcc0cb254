// SPDX-License-Identifier: MIT
// A finished check as text, Markdown, JSON, JUnit and SARIF.
#include "analyzer/check/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analyzer/report/junit.h"
#include "analyzer/report/report.h"
#include "analyzer/report/sarif.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

using Outcome = LimitResult::Outcome;

std::string_view outcome_label(Outcome outcome) {
  return outcome == Outcome::kCannotTell ? "cannot tell" : outcome_id(outcome);
}

std::string actual_text(const LimitResult& result) {
  if (!result.actual) return "cannot tell";
  return fmt::format("{:.{}f} {}", *result.actual, result.unit == "count" ? 0 : 2, result.unit);
}

/// Broken limits first, then "cannot tell", warned, kept; within each, in the order of the file.
std::vector<const LimitResult*> worst_first(const std::vector<LimitResult>& results) {
  std::vector<const LimitResult*> sorted;
  for (const LimitResult& result : results) sorted.push_back(&result);
  auto rank = [](Outcome outcome) {
    return outcome == Outcome::kBroken       ? 0
           : outcome == Outcome::kCannotTell ? 1
           : outcome == Outcome::kWarned     ? 2
                                             : 3;
  };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto* a, const auto* b) {
    return rank(a->outcome) < rank(b->outcome);
  });
  return sorted;
}

Table results_table(const CheckReport& report) {
  Table table{"check", "Budget", "", {}, {}};
  table.columns = {{"outcome", "Outcome", ColumnKind::kText},
                   {"metric", "Metric", ColumnKind::kText},
                   {"limit", "Limit", ColumnKind::kText},
                   {"actual", "Actual", ColumnKind::kText}};
  for (const LimitResult* result : worst_first(report.results)) {
    table.rows.push_back({std::string(outcome_label(result->outcome)), result->limit.metric,
                          result->limit.text, actual_text(*result)});
  }
  return table;
}

std::string summary(const CheckReport& report) {
  auto count = [&](Outcome outcome) {
    return std::count_if(report.results.begin(), report.results.end(),
                         [&](const LimitResult& r) { return r.outcome == outcome; });
  };
  std::string text =
      fmt::format("{} of {} limits kept", count(Outcome::kKept), report.results.size());
  if (auto broken = count(Outcome::kBroken)) text += fmt::format(", {} broken", broken);
  if (auto warned = count(Outcome::kWarned)) text += fmt::format(", {} warned", warned);
  if (auto unknown = count(Outcome::kCannotTell)) text += fmt::format(", {} unknown", unknown);
  return fmt::format("{}: {}.", report.over ? "Over budget" : "Within budget", text);
}

bool needs_note(const LimitResult& result) {
  return !result.note.empty() &&
         (result.outcome != Outcome::kKept || result.limit.kind == Limit::Kind::kBaseline);
}

std::string verdict_of(const CheckReport& report) {
  return verdict(report.input.run.trace, report.input.run.analysis);
}

std::string one_line(const LimitResult& result) {
  return fmt::format("{} is {}, limit {}{}{}", result.limit.metric, actual_text(result),
                     result.limit.text, result.note.empty() ? "" : ": ", result.note);
}

std::vector<std::string> doubts_of(const CheckReport& report) {
  std::vector<std::string> out;
  for (const Doubt& doubt : report.input.run.analysis.doubts) {
    if (doubt.severity != "info") out.push_back(fmt::format("{}: {}", doubt.severity, doubt.text));
  }
  return out;
}

}  // namespace

std::string check_text(const CheckReport& report, std::size_t width) {
  std::string out;
  for (const std::string& doubt : doubts_of(report)) out += escape_terminal(doubt) + "\n";
  if (!out.empty()) out += "\n";
  out += to_text(results_table(report), {.width = width, .indent = {}}) + "\n";
  for (const LimitResult* result : worst_first(report.results)) {
    if (needs_note(*result))
      out += fmt::format("{}: {}\n", escape_terminal(result->limit.metric),
                         escape_terminal(result->note));
  }
  if (std::any_of(report.results.begin(), report.results.end(), needs_note)) out += "\n";
  out += summary(report) + "\n";
  if (report.over) out += escape_terminal(verdict_of(report)) + "\n";
  return out;
}

std::string check_markdown(const CheckReport& report) {
  std::string out = fmt::format("## Headway: {}\n\n", escape_markdown(summary(report)));
  for (const std::string& doubt : doubts_of(report))
    out += fmt::format("> {}\n\n", escape_markdown(doubt));
  out += to_markdown(results_table(report));
  for (const LimitResult* result : worst_first(report.results)) {
    if (needs_note(*result))
      out += fmt::format("\n- **{}**: {}", escape_markdown(result->limit.metric),
                         escape_markdown(result->note));
  }
  return out + fmt::format("\n\n{}\n", escape_markdown(verdict_of(report)));
}

std::string check_json(const CheckReport& report) {
  nlohmann::ordered_json json;
  json["schema_version"] = 1;
  json["over_budget"] = report.over;
  json["summary"] = summary(report);
  json["verdict"] = to_valid_utf8(verdict_of(report));
  json["limits"] = nlohmann::ordered_json::array();
  for (const LimitResult& result : report.results) {
    json["limits"].push_back({{"metric", to_valid_utf8(result.limit.metric)},
                              {"limit", to_valid_utf8(result.limit.text)},
                              {"severity", result.limit.only_warn ? "warn" : "error"},
                              {"line", result.limit.line},
                              {"actual", result.actual ? nlohmann::ordered_json(*result.actual)
                                                       : nlohmann::ordered_json(nullptr)},
                              {"unit", result.unit},
                              {"outcome", outcome_id(result.outcome)},
                              {"note", to_valid_utf8(result.note)}});
  }
  return json.dump(2) + "\n";
}

std::string check_junit(const CheckReport& report) {
  std::vector<JunitCase> cases;
  for (const LimitResult& result : report.results) {
    // What fails the check fails here; a warning or an allowed "cannot tell" does not.
    bool failed = over_budget({result}, report.budget.allow_unknown);
    auto outcome = failed                                   ? JunitCase::Outcome::kFailed
                   : result.outcome == Outcome::kCannotTell ? JunitCase::Outcome::kSkipped
                                                            : JunitCase::Outcome::kPassed;
    cases.push_back({"headway.budget", result.limit.metric, outcome, one_line(result),
                     failed ? one_line(result) + "\n" + verdict_of(report) : ""});
  }
  return junit_xml("headway check",
                   {{"trace", report.input.run.trace.path},
                    {"budget", report.budget.path.string()},
                    {"headway", report.tool_version}},
                   cases);
}

std::string check_sarif(const CheckReport& report) {
  std::vector<SarifRule> rules;
  std::vector<SarifResult> results;
  for (const LimitResult& result : report.results) {
    std::string id = "budget/" + to_valid_utf8(result.limit.metric);
    auto known = std::find_if(rules.begin(), rules.end(),
                              [&](const SarifRule& rule) { return rule.id == id; });
    if (known == rules.end())
      known = rules.insert(rules.end(), {id, "Budget for " + result.limit.metric,
                                         "The run keeps the budget's limit."});
    SarifResult item{.rule = static_cast<std::size_t>(known - rules.begin()),
                     .message = one_line(result),
                     .file = report.budget.path.string(),
                     .line = result.limit.line,
                     .events = {}};
    bool failed = over_budget({result}, report.budget.allow_unknown);
    item.level = failed ? "error" : "warning";
    if (!failed && result.outcome == Outcome::kKept) item.kind = SarifResult::Kind::kPass;
    if (!failed && result.outcome == Outcome::kCannotTell) item.kind = SarifResult::Kind::kOpen;
    if (result.actual) item.properties["actual"] = *result.actual;
    item.properties["unit"] = result.unit;
    item.properties["outcome"] = outcome_id(result.outcome);
    results.push_back(std::move(item));
  }
  return sarif_log(report.tool_version, rules, results, doubts_of(report));
}

}  // namespace headway::analyzer
