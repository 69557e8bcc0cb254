// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/report/report.h"
#include "analyzer/stats/table.h"

namespace headway::analyzer {

// What a report of many ranks adds to the one of its critical rank. Each is "" for a trace of one
// rank, so that its report does not change.

/// "What was recorded", before the facts of the critical rank. Not escaped.
std::vector<std::pair<std::string, std::string>> job_facts(const JobAnalysis& job);
std::string job_text(const trace::Trace& trace, const Analysis& analysis,
                     const ReportOptions& options);
std::string job_markdown(const trace::Trace& trace, const Analysis& analysis,
                         const ReportOptions& options);
std::string job_html(const trace::Trace& trace, const Analysis& analysis,
                     const ReportOptions& options);
/// Adds `ranks` and `clocks`; of a job, device_view and partition get the devices of all ranks.
void add_ranks(nlohmann::ordered_json& json, const trace::Trace& trace, const Analysis& analysis);

/// Sentences on who waits for whom, imbalance and clocks. Not escaped.
std::vector<std::string> job_sentences(const JobAnalysis& job);
/// Ranks sorted by the waits that they cause, then by their own waits, largest first.
Table job_rank_table(const trace::Trace& trace, const Analysis& analysis);
/// Index of the rank that a finding says the others wait for.
std::optional<std::uint32_t> culprit_of(const Analysis& analysis);
/// Waits per rank and step as a figure, the culprit's row outlined; "" without common steps.
std::string wait_map_svg(const JobAnalysis& job, std::optional<std::uint32_t> culprit);

}  // namespace headway::analyzer
