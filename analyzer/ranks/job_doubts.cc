// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyzer/ranks/job_parts.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

void doubt(JobAnalysis& job, std::string text) {
  job.doubts.push_back({"doubt", std::move(text)});
}

void add_identity(JobAnalysis& job) {
  auto count = [&](RankSource source) {
    return std::count_if(job.ranks.begin(), job.ranks.end(),
                         [&](const RankSummary& rank) { return rank.identity.source == source; });
  };
  if (auto named = count(RankSource::kFileName))
    doubt(job,
          fmt::format("{} of {} traces do not record their rank; it is taken from the file name.",
                      named, job.ranks.size()));
  if (auto guessed = count(RankSource::kOrder))
    doubt(job, fmt::format("{} of {} ranks are numbered by file and process order: neither trace "
                           "nor file name gives the rank.",
                           guessed, job.ranks.size()));
  if (static_cast<std::size_t>(job.world_size) > job.ranks.size())
    doubt(job, fmt::format("{} of {} ranks are here. Last arrivals and transfer times are judged "
                           "among these only.",
                           job.ranks.size(), job.world_size));
}

std::string group_label(const CollectiveGroup& group) {
  return group.communicator.empty()
             ? group.kind
             : fmt::format("{} of communicator {}", group.kind, group.communicator);
}

void add_matching(JobAnalysis& job) {
  std::int64_t rows = 0;
  std::int64_t unmatched = 0;
  std::vector<std::string> by_order;
  std::vector<const MatchedGroup*> short_ones;
  for (const MatchedGroup& group : job.matching.groups) {
    rows += group.matched + group.unmatched;
    unmatched += group.unmatched;
    if (group.by_order) by_order.push_back(group_label(group.group));
    if (group.unmatched) short_ones.push_back(&group);
  }
  if (rows == 0) {
    doubt(job, "The traces contain no communication: waits between ranks are unknown.");
    return;
  }
  if (!by_order.empty()) {
    std::size_t more = by_order.size() > 3 ? by_order.size() - 3 : 0;
    by_order.resize(std::min<std::size_t>(3, by_order.size()));
    doubt(job,
          fmt::format(
              "Matched by order in the step, because no sequence numbers were recorded: {}{}.",
              fmt::join(by_order, ", "), more ? fmt::format(" and {} more groups", more) : ""));
  }
  if (unmatched) {
    std::stable_sort(short_ones.begin(), short_ones.end(),
                     [](auto* a, auto* b) { return a->unmatched > b->unmatched; });
    doubt(job,
          fmt::format("{} of {} communications, counted on each rank, have no counterpart on other "
                      "ranks (most: {} of {}); they count as transfer.",
                      format_count(unmatched), format_count(rows),
                      format_count(short_ones[0]->unmatched), group_label(short_ones[0]->group)));
  }
  for (const std::string& name : job.matching.ambiguous)
    doubt(job, fmt::format("More ranks use communicator '{}' than it has members: several groups "
                           "share the name, so its collectives are not matched.",
                           name));
}

void add_clocks(JobAnalysis& job) {
  if (!job.clocks.doubt.empty()) doubt(job, job.clocks.doubt);
  std::vector<std::uint32_t> refused;
  const HostClock* first = nullptr;
  for (const HostClock& host : job.clocks.hosts) {
    if (host.aligned) continue;
    if (!first) first = &host;
    refused.insert(refused.end(), host.ranks.begin(), host.ranks.end());
  }
  if (!first) return;
  std::sort(refused.begin(), refused.end());
  bool one = first->ranks.size() == refused.size();
  doubt(job, fmt::format("The clock{} of {} cannot be aligned with that of {}: {}{}. Figures that "
                         "need no common clock are still printed.",
                         one ? "" : "s", rank_list(job, refused),
                         rank_list(job, job.clocks.hosts.front().ranks),
                         one ? "" : fmt::format("on {}, ", rank_list(job, first->ranks)),
                         first->why_not));
}

/// Doubts of single ranks, those of the same text together. The critical rank's own come with its
/// report, which names the ranks that share them.
void add_ranks_own(JobAnalysis& job) {
  constexpr std::size_t kShown = 8;
  std::map<std::pair<std::string, std::string>, std::vector<std::uint32_t>> ranks_of;
  std::set<std::pair<std::string, std::string>> told;
  for (const Doubt& d : job.ranks[job.critical].doubts) told.insert({d.severity, d.text});
  for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
    if (r == job.critical) continue;
    for (const Doubt& d : job.ranks[r].doubts) {
      if (d.severity != "info" && !told.contains({d.severity, d.text}))
        ranks_of[{d.severity, d.text}].push_back(r);
    }
  }
  std::size_t shown = 0;
  for (std::string_view severity : {"loss", "doubt"}) {
    for (const auto& [what, ranks] : ranks_of) {
      if (what.first != severity || shown == kShown) continue;
      job.doubts.push_back(
          {what.first, fmt::format("On {}: {}", rank_list(job, ranks), what.second)});
      ++shown;
    }
  }
  if (ranks_of.size() > shown)
    doubt(job, fmt::format("{} more doubts on single ranks: see each rank's report.",
                           ranks_of.size() - shown));
}

}  // namespace

void add_job_doubts(JobAnalysis& job) {
  add_identity(job);
  add_matching(job);
  add_clocks(job);
  add_ranks_own(job);
}

}  // namespace headway::analyzer
