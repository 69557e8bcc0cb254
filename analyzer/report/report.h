// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/analysis.h"
#include "trace/bookmarks.h"

namespace headway::analyzer {

/// Version of `report --json`. Keys are only added within a version; what each means:
/// docs/reference/report-json.md.
inline constexpr int kReportSchemaVersion = 1;

enum class ReportFormat : std::uint8_t { kText, kMarkdown, kJson, kHtml, kJunit, kSarif, kCsv };
/// By name ("text", "markdown", "json", "html", "junit", "sarif", "csv"); nullopt for another.
std::optional<ReportFormat> report_format(std::string_view name);
std::vector<std::string> report_format_names();
/// By a file's name: .txt, .md, .json, .html, .htm, .xml, .sarif, .csv; nullopt for another.
std::optional<ReportFormat> report_format_of_file(std::string_view file);

/// A note that a person made on a trace, at a time of that trace.
struct ReportNote {
  trace::Bookmark note;
  std::int32_t rank = -1;  ///< in a job: the rank of the trace; -1: a single trace
};

struct ReportOptions {
  std::string tool_version;
  std::size_t max_rows = 15;  ///< of each table in text, Markdown and HTML; JSON has all
  std::size_t text_width = 110;
  std::vector<ReportNote> notes = {};  ///< what people noted beside the trace; HTML shows them
};

/// The whole report. Deterministic: same trace, same bytes, in any locale and time zone. CSV is one
/// table, the findings; report_tables() has all.
std::string render(ReportFormat format, const trace::Trace& trace, const Analysis& analysis,
                   const ReportOptions& options);

/// Every table that has rows as CSV: file name and content.
std::vector<std::pair<std::string, std::string>> report_tables(const trace::Trace& trace,
                                                               const Analysis& analysis);

/// The verdict in one sentence: the first finding, or that none is above the threshold, or why
/// nothing can be said.
std::string verdict(const trace::Trace& trace, const Analysis& analysis);

}  // namespace headway::analyzer
