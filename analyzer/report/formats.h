// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "analyzer/report/report.h"

namespace headway::analyzer {

// One function per format; render() chooses.
std::string render_text(const trace::Trace& trace, const Analysis& analysis,
                        const ReportOptions& options);
std::string render_markdown(const trace::Trace& trace, const Analysis& analysis,
                            const ReportOptions& options);
std::string render_json(const trace::Trace& trace, const Analysis& analysis,
                        const ReportOptions& options);
std::string render_html(const trace::Trace& trace, const Analysis& analysis,
                        const ReportOptions& options);
// For other programs: exchange.cc.
std::string render_junit(const trace::Trace& trace, const Analysis& analysis,
                         const ReportOptions& options);
std::string render_sarif(const trace::Trace& trace, const Analysis& analysis,
                         const ReportOptions& options);
std::string render_csv(const trace::Trace& trace, const Analysis& analysis,
                       const ReportOptions& options);

/// `text`, made inert for a terminal, in lines of at most `width` columns.
std::string wrap_text(std::string_view text, std::size_t width, const std::string& first,
                      const std::string& next);

}  // namespace headway::analyzer
