// SPDX-License-Identifier: MIT
#include "analyzer/report/report.h"

#include <array>

#include "analyzer/report/formats.h"

namespace headway::analyzer {
namespace {

struct Format {
  ReportFormat format;
  std::string_view name;
  std::array<std::string_view, 2> endings;  ///< of file names; the second may be empty
  std::string (*render)(const trace::Trace&, const Analysis&, const ReportOptions&);
};
constexpr std::array<Format, 7> kFormats = {
    {{ReportFormat::kText, "text", {".txt", ""}, render_text},
     {ReportFormat::kMarkdown, "markdown", {".md", ""}, render_markdown},
     {ReportFormat::kJson, "json", {".json", ""}, render_json},
     {ReportFormat::kHtml, "html", {".html", ".htm"}, render_html},
     {ReportFormat::kJunit, "junit", {".xml", ""}, render_junit},
     {ReportFormat::kSarif, "sarif", {".sarif", ".sarif.json"}, render_sarif},
     {ReportFormat::kCsv, "csv", {".csv", ""}, render_csv}}};

constexpr bool in_enum_order() {
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    if (kFormats[i].format != static_cast<ReportFormat>(i)) return false;
  }
  return true;
}
static_assert(in_enum_order(), "kFormats must list the formats in the order of enum ReportFormat");

}  // namespace

std::optional<ReportFormat> report_format(std::string_view name) {
  for (const Format& format : kFormats) {
    if (format.name == name) return format.format;
  }
  return std::nullopt;
}

std::optional<ReportFormat> report_format_of_file(std::string_view file) {
  std::optional<ReportFormat> best;
  std::size_t longest = 0;  // ".sarif.json" is not ".json"
  for (const Format& format : kFormats) {
    for (std::string_view ending : format.endings) {
      if (ending.size() <= longest || !file.ends_with(ending)) continue;
      longest = ending.size();
      best = format.format;
    }
  }
  return best;
}

std::vector<std::string> report_format_names() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return names;
}

std::string render(ReportFormat format, const trace::Trace& trace, const Analysis& analysis,
                   const ReportOptions& options) {
  return kFormats[static_cast<std::size_t>(format)].render(trace, analysis, options);
}

}  // namespace headway::analyzer
