// SPDX-License-Identifier: MIT
// One self-contained page: no network, light and dark, for paper, keyboard and screen readers. A script makes tables sort
// and figures zoom; without it nothing is missing. Every name is escaped.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/report/facts.h"
#include "analyzer/report/figures.h"
#include "analyzer/report/formats.h"
#include "analyzer/report/html_style.h"
#include "analyzer/report/job.h"
#include "analyzer/stats/tables.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

using trace::Trace;

std::string facts_html(const Trace& trace, const Analysis& analysis) {
  std::string out = "<dl>\n";
  for (const auto& [label, value] : report_facts(trace, analysis))
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(label), escape_html(value));
  return out + "</dl>\n";
}

std::string doubts_html(const Analysis& analysis) {
  if (analysis.doubts.empty()) return "";
  std::string out =
      "<section id=\"doubts\" aria-label=\"Doubts\">\n<h2>Before you trust the figures</h2>\n";
  for (const Doubt& doubt : analysis.doubts) {
    out += fmt::format("<div class=\"card {0}\"><b>{0}</b> {1}</div>\n",
                       escape_html(doubt.severity), prose_html(doubt.text));
  }
  return out + "</section>\n";
}

/// A part of the page that the list at its top leads to.
struct Section {
  std::string id;
  std::string title;
  std::string body;
};

std::string figure(std::string_view name, const std::string& svg) {
  // Wide figures keep their size on narrow screens and scroll; the keyboard reaches them.
  return svg.empty() ? ""
                     : fmt::format(
                           "<div class=\"fig\" role=\"region\" aria-label=\"{}\" "
                           "tabindex=\"0\">\n{}</div>\n",
                           name, svg);
}

Section steps_section(const Trace& trace, const Analysis& analysis) {
  Section section{"steps", "Every step", ""};
  std::string steps = figure("Every step", steps_chart_svg(analysis));
  if (!steps.empty()) {
    section.body = steps + legend_html(analysis) +
                   "<p class=\"note\">Pale columns are not steady (first, last, warm-up, cut) and "
                   "are not counted.</p>\n";
  }
  if (!analysis.steps.all.empty()) {
    if (const std::string beside = three_steps_html(trace, analysis); !beside.empty())
      section.body += "<h3>Typical, slowest and predicted step</h3>\n" + beside;
  }
  return section;
}

Section overlap_section(const Trace& trace, const Analysis& analysis) {
  std::string svg = figure("Overlap", overlap_svg(trace, analysis));
  if (!svg.empty())
    svg +=
        "<p class=\"note\">Each device's whole span, first op to last. The thin bar shows all "
        "communication; the part under compute is hidden.</p>\n";
  return {"overlap", "Overlap", svg};
}

Section roofline_section(const Trace& trace, const Analysis& analysis) {
  std::string svg = figure("Roofline", roofline_svg(trace, analysis));
  if (!svg.empty())
    svg +=
        "<p class=\"note\">Op types with known bytes and operations; larger circles take more of "
        "the step. The dashed line is the memory bandwidth, if known.</p>\n";
  return {"roofline", "Roofline", svg};
}

/// The advice for `fix`; for an empty `fix`, the advice that belongs to no fix.
std::string advice_html(const Finding& finding, std::string_view fix) {
  std::string out;
  for (const Advice& advice : finding.advice) {
    if (advice.fix != fix) continue;
    out += fmt::format(
        "<li><b>{}</b>: {}{}{}</li>\n", escape_html(advice.framework), prose_html(advice.text),
        advice.knob.empty() ? "" : fmt::format(" <code>{}</code>", escape_html(advice.knob)),
        advice.current.empty() ? ""
                               : fmt::format(" <span class=\"meta\">now</span> <code>{}</code>",
                                             escape_html(advice.current)));
  }
  return out;
}

std::string finding_html(const Analysis& analysis, const Finding& finding, std::size_t number) {
  constexpr std::size_t kEvidenceShown = 5;
  std::string out = fmt::format(
      "<div class=\"card\"><h3>{}. {}{}</h3>\n<p class=\"gain\">{}, {}</p>\n<p>{}</p>\n", number,
      escape_html(finding.title),
      finding.sub_cause.empty() ? "" : fmt::format(" ({})", escape_html(finding.sub_cause)),
      prose_html(gain_label(analysis, finding)), confidence_label(finding),
      prose_html(finding.claim));
  if (finding.fixes.empty())
    if (const std::string why = prediction_label(finding); !why.empty())
      out += fmt::format("<p>{}</p>\n", prose_html(why));
  out += prediction_html(finding);
  for (const Finding* one : same_time(analysis, finding))
    out += fmt::format("<p><b>Same time</b>: {}: {}</p>\n", escape_html(finding_label(*one)),
                       prose_html(one->claim));
  if (!finding.evidence.empty()) {
    out += "<p class=\"meta\">Where to look</p>\n<ul class=\"plain\">\n";
    for (std::size_t i = 0; i < std::min(kEvidenceShown, finding.evidence.size()); ++i) {
      const Evidence& evidence = finding.evidence[i];
      out += fmt::format("<li>{}, for {}: {}</li>\n", format_time(evidence.where.begin),
                         format_duration(evidence.where.length()), prose_html(evidence.note));
    }
    out += "</ul>\n";
  }
  if (finding.advice.empty() && finding.fixes.empty()) return out + "</div>\n";
  out += "<p class=\"meta\">What to do</p>\n<ul class=\"plain\">\n";
  for (const PredictedGain& gain : finding.fixes) {
    out += fmt::format("<li>{}", prose_html(fix_line(gain)));
    const std::string how = advice_html(finding, gain.fix);
    if (!how.empty()) out += "\n<ul class=\"plain\">\n" + how + "</ul>";
    out += "</li>\n";
  }
  return out + advice_html(finding, "") + "</ul></div>\n";
}

Section findings_section(const Analysis& analysis) {
  std::string out;
  std::size_t number = 0;
  for (const Finding& finding : analysis.findings) {
    if (finding.status == Status::kFound && finding.part_of.empty())
      out += finding_html(analysis, finding, ++number);
  }
  if (number == 0)
    out += fmt::format("<p>None above 5&nbsp;% of the {}.</p>\n",
                       analysis.steps.all.empty() ? "span" : "step");
  if (const std::string bars = plan_html(analysis); !bars.empty())
    out += fmt::format("<div class=\"card\"><h3>{}</h3>\n{}</div>\n", kPlanTitle, bars);
  if (const std::string note = prediction_note(analysis); !note.empty())
    out += fmt::format("<p class=\"note\">{}</p>\n", escape_html(note));
  out +=
      "<details open><summary>Other rules</summary>\n<div class=\"scroll\" role=\"region\" "
      "aria-label=\"Other rules\" tabindex=\"0\"><table class=\"rules\">\n<thead><tr><th "
      "scope=\"col\">Rule</th>"
      "<th scope=\"col\">Status</th><th scope=\"col\">What was checked, or what is "
      "missing</th></tr></thead>\n<tbody>\n";
  for (const Finding& finding : analysis.findings) {
    if (finding.status == Status::kFound) continue;
    out += fmt::format("<tr><td>{}</td><td class=\"word\">{}</td><td>{}</td></tr>\n",
                       escape_html(finding.title), status_words(finding.status),
                       prose_html(finding.claim));
  }
  return {"findings", "Findings", out + "</tbody></table></div></details>\n"};
}

Section table_section(const Table& table, std::size_t max_rows) {
  Section section{"table-" + table.id, table.title, ""};
  if (table.rows.empty()) return section;
  section.body = fmt::format("<p class=\"note\">{}</p>\n{}", escape_html(table.note),
                             to_html(table, max_rows));
  return section;
}

Section notes_section(const ReportOptions& options) {
  if (options.notes.empty()) return {"notes", "Notes", ""};
  std::string rows;
  const bool of_ranks = std::ranges::any_of(options.notes, [](auto& one) { return one.rank >= 0; });
  for (const auto& [note, rank] : options.notes) {
    rows += fmt::format(
        "<tr>{}<td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
        of_ranks ? fmt::format("<td class=\"n\">{}</td>", rank) : "", format_time(note.when.begin),
        note.when.empty() ? "" : format_duration(note.when.length()), escape_html(note.note));
  }
  return {
      "notes", "Notes",
      std::string(of_ranks ? "<p class=\"note\">Times are relative to each rank's own trace.</p>\n"
                           : "") +
          "<div class=\"scroll\" role=\"region\" aria-label=\"Notes\" tabindex=\"0\"><table>\n"
          "<thead><tr>" +
          (of_ranks ? "<th scope=\"col\" class=\"n\">Rank</th>" : "") +
          "<th scope=\"col\" class=\"n\">Time</th><th scope=\"col\" class=\"n\">Length</th>"
          "<th scope=\"col\">Note</th></tr></thead>\n<tbody>\n" +
          rows + "</tbody></table></div>\n"};
}

std::vector<Section> sections_of(const Trace& trace, const Analysis& analysis,
                                 const ReportOptions& options) {
  std::vector<Section> sections = {
      {"waterfall", "Where the time went", waterfall_html(trace, analysis)},
      findings_section(analysis),
      notes_section(options),
      steps_section(trace, analysis),
      overlap_section(trace, analysis),
      roofline_section(trace, analysis)};
  for (const Table& table :
       make_tables(trace, analysis,
                   {host_function_table, path_kind_table, op_type_table, op_table, layer_table,
                    kernel_family_table, kernel_table, collective_sum_table, loader_table,
                    copy_table, device_table, process_table}))
    sections.push_back(table_section(table, options.max_rows));
  std::erase_if(sections, [](const Section& section) { return section.body.empty(); });
  return sections;
}

}  // namespace

std::string render_html(const Trace& trace, const Analysis& analysis,
                        const ReportOptions& options) {
  std::string title = escape_html(report_title(trace, analysis));
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" content=\"width=device-width\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'sha256-{}'\">\n<title>Headway: "
      "{}</title>\n<style>{}</style>\n</head>\n<body>\n"
      "<a class=\"skip\" href=\"#findings\">Skip to the findings</a>\n",
      kReportScriptHash, title, kReportStyle);
  out += fmt::format("<header>\n<h1>Headway report: {}</h1>\n{}", title, doubts_html(analysis));
  out += fmt::format("<p class=\"verdict\">{}</p>\n{}", prose_html(verdict(trace, analysis)),
                     facts_html(trace, analysis));
  std::vector<Section> sections = sections_of(trace, analysis, options);
  out += "<nav aria-label=\"Sections\"><ul>\n";
  if (analysis.job) out += "<li><a href=\"#ranks\">Ranks</a></li>\n";
  for (const Section& section : sections)
    out += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", escape_html(section.id),
                       escape_html(section.title));
  out += "</ul></nav>\n</header>\n<main>\n" + job_html(trace, analysis, options);
  for (const Section& section : sections) {
    // Tables fold; open from the start, so that paper and search show everything.
    bool folds = section.id.starts_with("table-");
    out += fmt::format(
        fmt::runtime(folds ? "<details open id=\"{0}\">\n<summary><h2>{1}</h2></summary>\n{2}"
                             "</details>\n"
                           : "<section id=\"{0}\" aria-label=\"{1}\">\n<h2>{1}</h2>\n{2}"
                             "</section>\n"),
        escape_html(section.id), escape_html(section.title), section.body);
  }
  return out + fmt::format(
                   "</main>\n<footer class=\"note\">Headway {}</footer>\n<script>{}</script>\n"
                   "</body>\n</html>\n",
                   escape_html(options.tool_version), kReportScript);
}

}  // namespace headway::analyzer
