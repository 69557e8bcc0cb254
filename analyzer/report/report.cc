// SPDX-License-Identifier: MIT
#include "analyzer/report/report.h"

#include <array>

#include "analyzer/report/formats.h"

namespace headway::analyzer {
namespace {

struct Format {
  ReportFormat format;
  std::string_view name;
  std::string (*render)(const trace::Trace&, const Analysis&, const ReportOptions&);
};
constexpr std::array<Format, 4> kFormats = {{{ReportFormat::kText, "text", render_text},
                                             {ReportFormat::kMarkdown, "markdown", render_markdown},
                                             {ReportFormat::kJson, "json", render_json},
                                             {ReportFormat::kHtml, "html", render_html}}};

}  // namespace

std::optional<ReportFormat> report_format(std::string_view name) {
  for (const Format& format : kFormats) {
    if (format.name == name) return format.format;
  }
  return std::nullopt;
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
