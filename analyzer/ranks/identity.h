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
/// `file_index`: the number of a rank that nothing else tells.
std::vector<RankProcesses> ranks_in(const trace::Trace& trace, std::size_t file_index);

/// Number of ranks of the job that the trace is part of, as the trace or the launcher says; 0: unknown.
std::int32_t world_size_of(const trace::Trace& trace);

/// "trace_rank3.json" -> 3; also rank-3, rank.3, r3, worker3. nullopt when the name tells none.
std::optional<std::int32_t> rank_in_name(std::string_view file_name);

/// The rows of one process, of its children and of processes without a rank: row i of a table of
/// `take_rank` is row `kept[i]` of the whole trace.
trace::KeptRows rows_of_rank(const trace::Trace& trace, trace::ProcessId main,
                             const std::vector<RankProcesses>& all);
/// The rows of each of the job's ranks in the one trace of all ranks.
std::vector<trace::KeptRows> rows_of_ranks(const std::vector<RankSummary>& ranks,
                                           const trace::Trace& whole);
/// The event of the whole trace for an event of a rank's own trace; none where it was not kept.
EventRef event_in_whole(const trace::KeptRows& kept, EventRef event);
/// The events of one process, of its children and of processes without a rank, as a separate trace.
trace::Trace take_rank(const trace::Trace& trace, trace::ProcessId main,
                       const std::vector<RankProcesses>& all);

}  // namespace headway::analyzer
