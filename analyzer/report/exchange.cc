// SPDX-License-Identifier: MIT
// The report for other programs: JUnit, SARIF, CSV.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/report/facts.h"
#include "analyzer/report/formats.h"
#include "analyzer/report/junit.h"
#include "analyzer/report/sarif.h"
#include "analyzer/rules/registry.h"
#include "analyzer/stats/tables.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

using trace::Trace;

std::string claim_with_gain(const Analysis& analysis, const Finding& finding) {
  return fmt::format("{}: {}, {}. {}", finding_label(finding), gain_label(analysis, finding),
                     confidence_label(finding), finding.claim);
}

std::string details(const Analysis& analysis, const Finding& finding) {
  std::string out = claim_with_gain(analysis, finding) + "\n";
  for (const Evidence& evidence : finding.evidence)
    out += fmt::format("see  at {}, {}: {}\n", format_time(evidence.where.begin),
                       format_duration(evidence.where.length()), evidence.note);
  for (const PredictedGain& gain : finding.fixes) out += "fix  " + fix_line(gain) + "\n";
  for (const Advice& advice : finding.advice) out += "do   " + advice_line(advice) + "\n";
  return out;
}

std::vector<std::string> doubt_lines(const Analysis& analysis) {
  std::vector<std::string> lines;
  for (const Doubt& doubt : analysis.doubts)
    lines.push_back(fmt::format("{}: {}", doubt.severity, doubt.text));
  return lines;
}

/// The distinct names of the evidence, worst first.
std::vector<std::string> events_of(const Trace& trace, const Finding& finding) {
  constexpr std::size_t kMost = 5;
  std::vector<std::string> names;
  for (const Evidence& evidence : finding.evidence) {
    std::string name(name_of(trace, evidence.event));
    if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) continue;
    names.push_back(std::move(name));
    if (names.size() == kMost) break;
  }
  return names;
}

}  // namespace

std::string render_junit(const Trace& trace, const Analysis& analysis,
                         const ReportOptions& options) {
  std::vector<std::pair<std::string, std::string>> properties = report_facts(trace, analysis);
  properties.emplace_back("verdict", verdict(trace, analysis));
  for (const std::string& line : doubt_lines(analysis)) properties.emplace_back("doubt", line);
  properties.emplace_back("headway", options.tool_version);
  std::vector<JunitCase> cases;
  for (const Finding& finding : analysis.findings) {
    JunitCase test{"headway.finding", std::string(finding.rule), JunitCase::Outcome::kPassed,
                   finding.claim, ""};
    if (finding.status == Status::kFound) {
      test.outcome = JunitCase::Outcome::kFailed;
      test.message = claim_with_gain(analysis, finding);
      test.details = details(analysis, finding);
    } else if (finding.status == Status::kCannotTell) {
      test.outcome = JunitCase::Outcome::kSkipped;
      test.message = "cannot tell: " + finding.claim;
    }
    cases.push_back(std::move(test));
  }
  return junit_xml("headway report", properties, cases);
}

std::string render_sarif(const Trace& trace, const Analysis& analysis,
                         const ReportOptions& options) {
  std::vector<SarifRule> rules;
  for (const Rule* rule : all_rules())
    rules.push_back({std::string(rule->id), std::string(rule->title), std::string(rule->fires_on)});
  std::vector<SarifResult> results;
  for (const Finding& finding : analysis.findings) {
    auto rule = std::find_if(rules.begin(), rules.end(),
                             [&](const SarifRule& r) { return r.id == finding.rule; });
    if (rule == rules.end()) continue;
    SarifResult result{.rule = static_cast<std::size_t>(rule - rules.begin()),
                       .message = finding.claim,
                       .file = trace.path,
                       .events = events_of(trace, finding)};
    if (finding.status == Status::kFound) {
      result.message = claim_with_gain(analysis, finding);
      for (const Advice& advice : finding.advice) result.message += " " + advice_line(advice);
      result.properties = {{"recoverable_ns_per_step", finding.recoverable_per_step.ns},
                           {"share_of_step", finding.share_of_step},
                           {"confidence", finding.confidence},
                           {"sub_cause", escape_terminal(finding.sub_cause)}};
    } else {
      result.kind = finding.status == Status::kCannotTell ? SarifResult::Kind::kOpen
                                                          : SarifResult::Kind::kPass;
    }
    results.push_back(std::move(result));
  }
  return sarif_log(options.tool_version, rules, results, doubt_lines(analysis));
}

std::string render_csv(const Trace& trace, const Analysis& analysis, const ReportOptions&) {
  return to_csv(finding_table(trace, analysis));
}

std::vector<std::pair<std::string, std::string>> report_tables(const Trace& trace,
                                                               const Analysis& analysis) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const TableDeclaration& declaration : table_declarations()) {
    Table table = declaration.make(trace, analysis);
    if (!table.rows.empty()) files.emplace_back(table.id + ".csv", to_csv(table));
  }
  return files;
}

}  // namespace headway::analyzer
