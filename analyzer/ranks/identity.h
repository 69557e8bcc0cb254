// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/ranks/rank_summary.h"
#include "trace/subset.h"

namespace headway::analyzer {

/// The processes of one rank in a trace; empty: all of them.
struct RankProcesses {
  trace::ProcessId
      main;  ///< the one that works on a device or trains; none for a trace of one rank
  RankIdentity identity;
};

/// The ranks of a trace, at least one. Several when several processes work on devices and either
/// say different ranks or none does; without devices, when several train and say different ranks.
/// `file_index` numbers ranks that nothing tells.
std::vector<RankProcesses> ranks_in(const trace::Trace& trace, std::size_t file_index);

/// Ranks of the job that the trace is part of, as it or the launcher says; 0 unknown.
std::int32_t world_size_of(const trace::Trace& trace);

/// "trace_rank3.json" -> 3; also rank-3, rank.3, r3, worker3. nullopt when the name tells none.
std::optional<std::int32_t> rank_in_name(std::string_view file_name);

/// The rows of one process, of its children and of those without a rank: row i of a table of
/// `take_rank` is row `kept[i]` of the whole trace.
trace::KeptRows rows_of_rank(const trace::Trace& trace, trace::ProcessId main,
                             const std::vector<RankProcesses>& all);
/// For each of the job's ranks its rows in the one trace of all of them.
std::vector<trace::KeptRows> rows_of_ranks(const std::vector<RankSummary>& ranks,
                                           const trace::Trace& whole);
/// The row in the whole trace of an event in a rank's own; none where it was not kept.
EventRef event_in_whole(const trace::KeptRows& kept, EventRef event);
/// The events of one process, of its children and of those without a rank, as a trace of its own.
trace::Trace take_rank(const trace::Trace& trace, trace::ProcessId main,
                       const std::vector<RankProcesses>& all);

}  // namespace headway::analyzer
