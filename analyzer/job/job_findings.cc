// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/job/analyze_job.h"
#include "analyzer/rules/registry.h"

namespace headway::analyzer {
namespace {

const Finding* finding_of(const RankSummary& rank, std::string_view rule) {
  for (const Finding& finding : rank.findings) {
    if (finding.rule == rule) return &finding;
  }
  return nullptr;
}

bool judges_whole_job(std::string_view id) {
  auto rules = all_rules();
  return std::any_of(rules.begin(), rules.end(),
                     [&](const Rule* rule) { return rule->id == id && rule->whole_job; });
}

}  // namespace

void add_findings_of_ranks(const JobAnalysis& job, Analysis& analysis) {
  for (Finding& finding : analysis.findings) {
    const std::int32_t critical = job.ranks[job.critical].identity.rank;
    // The straggler is the rank that the report looks at; other rules on the job name no rank.
    if (judges_whole_job(finding.rule)) {
      if (finding.rule == "straggler") finding.rank = critical;
      continue;
    }
    finding.rank = critical;
    std::vector<std::uint32_t> found_on;
    std::uint32_t worst = job.critical;
    const Finding* most = nullptr;
    for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
      const Finding* own = finding_of(job.ranks[r], finding.rule);
      if (!own || own->status != Status::kFound) continue;
      found_on.push_back(r);
      if (!most || own->recoverable_per_step > most->recoverable_per_step) {
        most = own;
        worst = r;
      }
    }
    if (found_on.empty()) continue;
    std::string where = found_on.size() == job.ranks.size()
                            ? ""
                            : fmt::format(" Found on {} of {} ranks ({}).", found_on.size(),
                                          job.ranks.size(), rank_list(job, found_on));
    if (finding.status == Status::kFound) {
      finding.claim += where;
      continue;
    }
    finding = *most;
    finding.rank = job.ranks[worst].identity.rank;
    finding.claim = fmt::format("On {}: {}{}", rank_label(job.ranks[worst]), most->claim, where);
    if (job.ranks[worst].file != job.ranks[job.critical].file) {
      finding.evidence.clear();  // times of another clock
    }
    for (Evidence& evidence : finding.evidence) evidence.event = {};  // not of the report's trace
  }
  sort_findings(analysis.findings);
}

}  // namespace headway::analyzer
