// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "analyzer/ranks/job.h"

namespace headway::test {

/// A rank with one device and one step over [0, 1 s), on a host of its own clock.
inline analyzer::RankSummary bare_rank(int rank, std::string host = "") {
  analyzer::RankSummary summary;
  summary.identity.rank = rank;
  summary.file = "rank" + std::to_string(rank) + ".json";
  summary.host = std::move(host);
  summary.start_utc_ns = 1'700'000'000'000'000'000;
  summary.step_source = analyzer::StepSource::kDeclared;
  return summary;
}

/// Adds a collective on [begin, end) to the rank.
inline void add_collective(analyzer::RankSummary& rank, std::string communicator, std::string kind,
                           std::int64_t begin, std::int64_t end, std::int64_t step = 1,
                           std::int64_t sequence = -1, std::int64_t bytes = 1000) {
  analyzer::CollectiveGroup group{std::move(communicator), std::move(kind)};
  std::uint32_t index = 0;
  while (index < rank.collectives.groups.size() && rank.collectives.groups[index] != group) ++index;
  if (index == rank.collectives.groups.size()) rank.collectives.groups.push_back(group);
  analyzer::RankCollective row;
  row.group = index;
  row.sequence = sequence;
  row.step = step;
  row.launch = {begin};
  row.time = {{begin}, {end}};
  row.bytes = bytes;
  row.op = static_cast<std::uint32_t>(rank.collectives.rows.size());
  rank.collectives.rows.push_back(row);
}

}  // namespace headway::test
