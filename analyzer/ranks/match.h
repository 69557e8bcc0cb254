// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyzer/ranks/rank_summary.h"

namespace headway::analyzer {

/// One collective of one rank: `rank` indexes the job's ranks, `row` the rank's collectives.
struct Member {
  std::uint32_t rank = 0;
  std::uint32_t row = 0;
};

/// A collective as all ranks together carried it out.
struct MatchedCollective {
  std::uint32_t group = 0;  ///< index into Matching::groups
  std::uint32_t first_member = 0;
  std::uint32_t member_count = 0;  ///< at least 2, in the order of ranks
  std::int32_t ranks = 0;          ///< members of the communicator, loaded or not
  std::int64_t bytes = -1;
  bool tells_waits = false;  ///< a member longer than the shortest one waited for others
  /// One end may leave before another arrives (a message, a broadcast). Then it did not wait, and the begins and ends of
  /// the members say nothing about their clocks.
  bool one_sided = false;
  DurationNs transfer;      ///< least duration of all members: what is left without waiting
  std::uint32_t last = 0;   ///< the member that arrived last: the one with the least duration
  DurationNs longest_wait;  ///< of the member that arrived first
};

struct MatchedGroup {
  CollectiveGroup group;
  bool by_order = false;       ///< at least one was matched by its place, not by a sequence number
  std::int64_t matched = 0;    ///< rows of ranks that found their counterpart
  std::int64_t unmatched = 0;  ///< rows that did not
};

struct Matching {
  std::vector<MatchedGroup> groups;
  std::vector<MatchedCollective> all;
  std::vector<Member> members;
  std::vector<std::string> ambiguous;  ///< communicators used by more ranks than they have members

  std::span<const Member> of(const MatchedCollective& c) const {
    return std::span<const Member>(members).subspan(c.first_member, c.member_count);
  }
};

/// Matches by communicator and sequence number where ranks recorded one, else by place among the
/// collectives of the same communicator, kind and step. A send finds its receive among the messages
/// between the same two ranks, whose order both sides keep; both must name the other. In a step in which a rank has
/// more or fewer than most ranks, only that rank's are left out.
Matching match_collectives(std::span<const RankSummary> ranks);

/// A member's time spent waiting for the last to arrive; 0 for kinds where that is not known. In a
/// message or a broadcast either end may wait: data move when the later one has arrived.
DurationNs wait_of(const MatchedCollective& collective, const RankCollective& row);

}  // namespace headway::analyzer
