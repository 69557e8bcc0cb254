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

// The report of a job (a trace of several ranks) is the report of its critical rank and the parts
// below. The text functions return "" for a trace of one rank, so its report has no such parts.

/// Facts for the section "What was recorded", before those of the critical rank. Not escaped.
std::vector<std::pair<std::string, std::string>> job_facts(const JobAnalysis& job);
std::string job_text(const trace::Trace& trace, const Analysis& analysis,
                     const ReportOptions& options);
std::string job_markdown(const trace::Trace& trace, const Analysis& analysis,
                         const ReportOptions& options);
std::string job_html(const trace::Trace& trace, const Analysis& analysis,
                     const ReportOptions& options);
/// Adds `ranks`. For a job, also adds `clocks` and what else concerns several ranks, and replaces
/// `device_view` and `partition` by those of the devices of all ranks.
void add_ranks(nlohmann::ordered_json& json, const trace::Trace& trace, const Analysis& analysis);

/// Sentences on who waits for whom, imbalance and clocks. Not escaped.
std::vector<std::string> job_sentences(const JobAnalysis& job);
/// Ranks sorted by the waits that they cause, then by their own waits, largest first.
Table job_rank_table(const trace::Trace& trace, const Analysis& analysis);
/// Index of the rank that the others wait for, if the rule "straggler" found one.
std::optional<std::uint32_t> culprit_of(const Analysis& analysis);
/// A map of the waits per rank and step, with the culprit's row outlined; "" without common steps.
std::string wait_map_svg(const JobAnalysis& job, std::optional<std::uint32_t> culprit);

}  // namespace headway::analyzer
