// SPDX-License-Identifier: MIT
// One self-contained page: no scripts, no network, light and dark, prints well. Every name is
// escaped.
#include <fmt/format.h>

#include "analyzer/report/facts.h"
#include "analyzer/report/figures.h"
#include "analyzer/report/formats.h"
#include "analyzer/report/job.h"
#include "analyzer/stats/tables.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

using trace::Trace;

constexpr std::string_view kStyle = R"css(
:root { --ink: #1b1f24; --soft: #57606a; --line: #d7dce1; --paper: #ffffff; --panel: #f5f7f9; --accent: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa5b1; --line: #3a424b; --paper: #16191d; --panel: #1f2429; --accent: #7ab8ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 24px 32px 64px; max-width: 1080px; font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; color: var(--ink); background: var(--paper); }
h1 { font-size: 15px; font-weight: 600; color: var(--soft); margin: 0 0 4px; }
h2 { font-size: 18px; margin: 36px 0 10px; }
p { margin: 6px 0; }
.verdict { font-size: 21px; line-height: 1.4; margin: 0 0 16px; }
.note, dt, .meta { color: var(--soft); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 0; }
dd { margin: 0; overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: auto; margin: 8px 0; }
svg text { font: 12px system-ui, "DejaVu Sans", sans-serif; }
svg .axis { fill: var(--soft); } svg .end { text-anchor: end; } svg .mid { text-anchor: middle; }
svg .grid { stroke: var(--line); } svg .tick { stroke: var(--soft); } svg .in { font-size: 14px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; padding: 0; margin: 6px 0; list-style: none; font-size: 13px; }
.legend span { display: inline-block; width: 12px; height: 12px; margin-right: 6px; vertical-align: -1px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { text-align: left; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; }
td { overflow-wrap: anywhere; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.card { background: var(--panel); border: 1px solid var(--line); border-left: 5px solid var(--accent); border-radius: 6px; padding: 12px 18px; margin: 12px 0; }
.card h3 { margin: 0 0 4px; font-size: 16px; }
.gain { float: right; font-weight: 600; }
.doubt { border-left-color: #c28a00; } .loss { border-left-color: #b03a00; } .fine { border-left-color: var(--line); }
code { font: 13px ui-monospace, "DejaVu Sans Mono", monospace; background: var(--paper); border: 1px solid var(--line); border-radius: 4px; padding: 1px 5px; }
summary { cursor: pointer; color: var(--soft); margin: 6px 0; }
ul.plain { padding-left: 18px; margin: 6px 0; }
@media print { body { max-width: none; padding: 0; } .card, svg, tr { break-inside: avoid; } }
)css";

std::string facts_html(const Trace& trace, const Analysis& analysis) {
  std::string out = "<dl>\n";
  for (const auto& [label, value] : report_facts(trace, analysis))
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(label), escape_html(value));
  return out + "</dl>\n";
}

std::string doubts_html(const Analysis& analysis) {
  if (analysis.doubts.empty()) return "";
  std::string out = "<h2>Before you trust the figures</h2>\n";
  for (const Doubt& doubt : analysis.doubts) {
    out += fmt::format("<div class=\"card {}\"><b>{}</b> {}</div>\n", escape_html(doubt.severity),
                       escape_html(doubt.severity), escape_html(doubt.text));
  }
  return out;
}

std::string waterfall_html(const Trace& trace, const Analysis& analysis) {
  std::string bar = step_bar_svg(analysis);
  if (bar.empty()) return "";
  Table table = waterfall_table(trace, analysis);
  return fmt::format("<h2>{}</h2>\n{}{}<details><summary>{}</summary>\n{}</details>\n",
                     escape_html(table.title), bar, legend_html(analysis), escape_html(table.note),
                     to_html(table));
}

std::string steps_html(const Analysis& analysis) {
  std::string out;
  std::string steps = steps_chart_svg(analysis);
  if (!steps.empty()) {
    out += "<h2>Every step</h2>\n" + steps + legend_html(analysis) +
           "<p class=\"note\">Pale columns are not steady (first, last, warm-up, cut) and count "
           "nowhere else.</p>\n";
  }
  std::string band = step_band_svg(analysis);
  if (!band.empty()) out += "<h2>The typical step over time</h2>\n" + band;
  return out;
}

std::string finding_html(const Analysis& analysis, const Finding& finding, std::size_t number) {
  constexpr std::size_t kEvidenceShown = 5;
  std::string out = fmt::format(
      "<div class=\"card\"><span class=\"gain\">{}</span><h3>{}. {}{}</h3>\n<p>{} <span "
      "class=\"meta\">({})</span></p>\n",
      escape_html(gain_label(analysis, finding)), number, escape_html(finding.title),
      finding.sub_cause.empty() ? "" : fmt::format(" ({})", escape_html(finding.sub_cause)),
      escape_html(finding.claim), confidence_label(finding));
  if (!finding.evidence.empty()) {
    out += "<p class=\"meta\">To be seen at</p>\n<ul class=\"plain\">\n";
    for (std::size_t i = 0; i < std::min(kEvidenceShown, finding.evidence.size()); ++i) {
      const Evidence& evidence = finding.evidence[i];
      out += fmt::format("<li>{}, for {}: {}</li>\n", format_time(evidence.where.begin),
                         format_duration(evidence.where.length()), escape_html(evidence.note));
    }
    out += "</ul>\n";
  }
  out += "<p class=\"meta\">What to do</p>\n<ul class=\"plain\">\n";
  for (const Advice& advice : finding.advice) {
    out += fmt::format("<li><b>{}</b>: {} <code>{}</code>{}</li>\n", escape_html(advice.framework),
                       escape_html(advice.text), escape_html(advice.knob),
                       advice.current.empty()
                           ? ""
                           : fmt::format(" <span class=\"meta\">now</span> <code>{}</code>",
                                         escape_html(advice.current)));
  }
  return out + "</ul></div>\n";
}

std::string findings_html(const Analysis& analysis) {
  std::string out = "<h2>Findings</h2>\n";
  std::size_t number = 0;
  for (const Finding& finding : analysis.findings) {
    if (finding.status == Status::kFound) out += finding_html(analysis, finding, ++number);
  }
  if (number == 0) out += "<p>None above 5&nbsp;% of the step.</p>\n";
  out +=
      "<table><thead><tr><th>Rule</th><th>Status</th><th>What was checked, or what is "
      "missing</th></tr></thead><tbody>\n";
  for (const Finding& finding : analysis.findings) {
    if (finding.status == Status::kFound) continue;
    out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", escape_html(finding.title),
                       finding.status == Status::kFine ? "fine" : "cannot tell",
                       escape_html(finding.claim));
  }
  return out + "</tbody></table>\n";
}

std::string table_html(const Table& table, std::size_t max_rows) {
  if (table.rows.empty()) return "";
  return fmt::format("<h2>{}</h2>\n<p class=\"note\">{}</p>\n{}", escape_html(table.title),
                     escape_html(table.note), to_html(table, max_rows));
}

}  // namespace

std::string render_html(const Trace& trace, const Analysis& analysis,
                        const ReportOptions& options) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" content=\"width=device-width\">\n"
      "<title>Headway: {}</title>\n<style>{}</style>\n</head>\n<body>\n",
      escape_html(trace.path), kStyle);
  out += fmt::format("<h1>Headway report</h1>\n<p class=\"verdict\">{}</p>\n",
                     escape_html(verdict(trace, analysis)));
  out += facts_html(trace, analysis) + doubts_html(analysis) +
         job_html(trace, analysis, options) + waterfall_html(trace, analysis) +
         findings_html(analysis) + steps_html(analysis);
  for (const Table& table :
       {path_kind_table(trace, analysis), op_type_table(trace, analysis), op_table(trace, analysis),
        kernel_table(trace, analysis), loader_table(trace, analysis), copy_table(trace, analysis),
        device_table(trace, analysis), process_table(trace, analysis)}) {
    out += table_html(table, options.max_rows);
  }
  return out + fmt::format("<p class=\"note\">Headway {}</p>\n</body>\n</html>\n",
                           escape_html(options.tool_version));
}

}  // namespace headway::analyzer
