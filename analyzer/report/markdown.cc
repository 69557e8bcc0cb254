// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "analyzer/report/facts.h"
#include "analyzer/report/formats.h"
#include "analyzer/report/job.h"
#include "analyzer/stats/tables.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

using trace::Trace;

std::string waterfall(const Trace& trace, const Analysis& analysis) {
  Table table = waterfall_table(trace, analysis);
  if (table.rows.empty()) return "";
  return fmt::format("\n### {}\n\n{}\n\n{}\n", table.title, table.note, to_markdown(table));
}

std::string finding_block(const Analysis& analysis, const Finding& finding, std::size_t number) {
  std::string out = fmt::format(
      "\n{}. **{}**: {}, {}. {}\n", number, escape_markdown(finding_label(finding)),
      gain_label(analysis, finding), confidence_label(finding), escape_markdown(finding.claim));
  for (const PredictedGain& gain : finding.fixes) {
    out += fmt::format("   - {}\n", escape_markdown(fix_line(gain)));
    for (const Advice& advice : finding.advice)
      if (advice.fix == gain.fix)
        out += fmt::format("      - {}\n", escape_markdown(advice_line(advice)));
  }
  if (finding.fixes.empty())
    if (const std::string why = prediction_label(finding); !why.empty())
      out += fmt::format("   - {}\n", escape_markdown(why));
  for (const Advice& advice : finding.advice)
    if (advice.fix.empty()) out += fmt::format("   - {}\n", escape_markdown(advice_line(advice)));
  for (const Finding* one : same_time(analysis, finding))
    out += fmt::format("   - same time: {}: {}\n", escape_markdown(finding_label(*one)),
                       escape_markdown(one->claim));
  return out;
}

}  // namespace

std::string render_markdown(const Trace& trace, const Analysis& analysis,
                            const ReportOptions& options) {
  std::string out =
      fmt::format("## Headway: {}\n\n", escape_markdown(report_title(trace, analysis)));
  for (const Doubt& doubt : analysis.doubts)
    out += fmt::format("> **{}**: {}\n>\n", escape_markdown(doubt.severity),
                       escape_markdown(doubt.text));
  if (!analysis.doubts.empty()) out += "\n";
  out += fmt::format("**{}**\n\n", escape_markdown(verdict(trace, analysis)));
  for (const auto& [label, value] : report_facts(trace, analysis))
    if (label != "trace" || analysis.job)
      out += fmt::format("- **{}**: {}\n", label, escape_markdown(value));
  out += job_markdown(trace, analysis, options);
  out += waterfall(trace, analysis) + "\n### Findings\n";
  std::size_t number = 0;
  for (const Finding& finding : analysis.findings) {
    if (finding.status == Status::kFound && finding.part_of.empty())
      out += finding_block(analysis, finding, ++number);
  }
  if (number == 0)
    out +=
        fmt::format("\nNone above 5 % of the {}.\n", analysis.steps.all.empty() ? "span" : "step");
  const std::vector<std::string> plan = plan_lines(analysis);
  if (!plan.empty()) out += fmt::format("\n{}:\n\n", kPlanTitle);
  for (const std::string& line : plan) out += fmt::format("- {}\n", escape_markdown(line));
  if (const std::string note = prediction_note(analysis); !note.empty())
    out += fmt::format("\n{}\n", escape_markdown(note));
  out += "\n<details><summary>Other rules</summary>\n\n";
  for (const Finding& finding : analysis.findings) {
    if (finding.status == Status::kFound) continue;
    out += fmt::format("- {} ({}): {}\n", finding.rule, status_words(finding.status),
                       escape_markdown(finding.claim));
  }
  out += "\n</details>\n";
  for (const Table& table : make_tables(trace, analysis, {op_type_table, op_table, loader_table})) {
    if (!table.rows.empty())
      out += fmt::format("\n### {}\n\n{}\n\n{}", table.title, table.note,
                         to_markdown(table, options.max_rows));
  }
  return out;
}

}  // namespace headway::analyzer
