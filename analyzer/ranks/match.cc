// SPDX-License-Identifier: MIT
#include "analyzer/ranks/match.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace headway::analyzer {
namespace {

/// A row with what it is matched by. Rows of one collective have equal keys on different ranks.
struct Entry {
  std::uint32_t communicator = 0;
  std::int64_t sequence = -1;  ///< -1: by order
  std::uint32_t kind = 0;      ///< by order only
  std::int64_t step = 0;       ///< by order only
  std::uint32_t place = 0;     ///< among rows of one rank that agree in all of the above
  std::int32_t from = -1;      ///< messages only: their ends
  std::int32_t to = -1;
  Member member;
  std::uint32_t group = 0;  ///< index into Matching::groups

  auto key() const { return std::tie(communicator, sequence, kind, step, from, to, place); }
  auto bucket() const { return std::tie(communicator, sequence, kind, step, from, to); }
};

class Numbering {
 public:
  std::uint32_t operator()(const std::string& text) {
    return ids_.try_emplace(text, static_cast<std::uint32_t>(ids_.size())).first->second;
  }

 private:
  std::map<std::string, std::uint32_t> ids_;
};

class Matcher {
 public:
  explicit Matcher(std::span<const RankSummary> ranks) : ranks_(ranks) {}

  Matching run() {
    std::vector<Entry> entries;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) add_entries(r, entries);
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.bucket(), a.member.rank) < std::pair(b.bucket(), b.member.rank) ||
             (std::pair(a.bucket(), a.member.rank) == std::pair(b.bucket(), b.member.rank) &&
              a.member.row < b.member.row);
    });
    for (auto begin = entries.begin(); begin != entries.end();) {
      auto end = std::find_if(begin, entries.end(),
                              [&](const Entry& e) { return e.bucket() != begin->bucket(); });
      match_bucket({begin, end});
      begin = end;
    }
    std::sort(result_.all.begin(), result_.all.end(),
              [&](const MatchedCollective& a, const MatchedCollective& b) {
                const Member& x = result_.members[a.first_member];
                const Member& y = result_.members[b.first_member];
                return std::tie(x.rank, x.row) < std::tie(y.rank, y.row);
              });
    result_.ambiguous.assign(ambiguous_.begin(), ambiguous_.end());
    return std::move(result_);
  }

 private:
  const RankCollective& row(Member m) const { return ranks_[m.rank].collectives.rows[m.row]; }

  void add_entries(std::uint32_t rank, std::vector<Entry>& entries) {
    const Collectives& collectives = ranks_[rank].collectives;
    bool has_steps = ranks_[rank].step_source != StepSource::kNone;
    for (std::uint32_t i = 0; i < collectives.rows.size(); ++i) {
      const RankCollective& row = collectives.rows[i];
      const CollectiveGroup& group = collectives.groups[row.group];
      auto [slot, is_new] =
          groups_.try_emplace(group, static_cast<std::uint32_t>(result_.groups.size()));
      if (is_new) result_.groups.push_back({group, false, 0, 0});
      // Outside the steps nothing says where a rank's recording began, so places mean nothing.
      if (row.sequence < 0 && has_steps && row.step < 0) {
        ++result_.groups[slot->second].unmatched;
        continue;
      }
      Entry entry;
      entry.communicator = communicators_(group.communicator);
      entry.sequence = row.sequence;
      if (is_point_to_point(group.kind) && row.peer >= 0) {
        // Each rank counts its messages with all ranks: two ranks share only the order between them.
        const std::int32_t self = ranks_[rank].identity.rank;
        entry.from = group.kind == "send" ? self : row.peer;
        entry.to = group.kind == "send" ? row.peer : self;
        entry.sequence = -1;
        entry.kind = kinds_("message");
        entry.step = row.step;
      } else if (row.sequence < 0) {
        entry.kind = kinds_(group.kind);
        entry.step = row.step;
      }
      entry.member = {rank, i};
      entry.group = slot->second;
      entries.push_back(entry);
    }
  }

  /// `bucket`: sorted by rank, then program order.
  void match_bucket(std::span<Entry> bucket) {
    std::map<std::uint32_t, std::size_t> count_of_rank;
    for (Entry& e : bucket) e.place = static_cast<std::uint32_t>(count_of_rank[e.member.rank]++);
    std::map<std::size_t, std::size_t> ranks_with_count;
    for (const auto& [rank, count] : count_of_rank) ++ranks_with_count[count];
    // The count that most ranks have; of equally common ones the larger.
    auto usual = std::max_element(
        ranks_with_count.begin(), ranks_with_count.end(), [](const auto& a, const auto& b) {
          return std::tie(a.second, a.first) < std::tie(b.second, b.first);
        });
    std::vector<std::vector<Entry>> places(usual->first);
    for (const Entry& e : bucket) {
      if (count_of_rank[e.member.rank] == usual->first) {
        places[e.place].push_back(e);
      } else {
        ++result_.groups[e.group].unmatched;
      }
    }
    for (const std::vector<Entry>& place : places) match_place(place);
  }

  void match_place(const std::vector<Entry>& place) {
    const Entry& first = place.front();
    std::int32_t size = row(first.member).ranks;
    const bool message = first.from >= 0;
    bool agree = std::all_of(place.begin(), place.end(), [&](const Entry& e) {
      return (message || e.group == first.group) && row(e.member).bytes == row(first.member).bytes;
    });
    bool too_many = size > 0 && place.size() > static_cast<std::size_t>(size);
    if (too_many) ambiguous_.insert(result_.groups[first.group].group.communicator);
    if (place.size() < 2 || !agree || too_many || (message && place.size() != 2)) {
      for (const Entry& e : place) ++result_.groups[e.group].unmatched;
      return;
    }
    for (const Entry& e : place) {
      MatchedGroup& its = result_.groups[e.group];
      ++its.matched;
      // A training thread communicates in the order of the program, which is that of all ranks.
      its.by_order = its.by_order || (row(e.member).sequence < 0 && !row(e.member).on_host);
    }
    const MatchedGroup& group = result_.groups[first.group];
    MatchedCollective matched;
    matched.group = first.group;
    matched.first_member = static_cast<std::uint32_t>(result_.members.size());
    matched.member_count = static_cast<std::uint32_t>(place.size());
    matched.ranks = size > 0 && !message ? size : static_cast<std::int32_t>(place.size());
    matched.bytes = row(first.member).bytes;
    matched.one_sided = message || is_one_sided(group.group.kind);
    matched.tells_waits = matched.one_sided || is_synchronising(group.group.kind);
    matched.transfer = row(first.member).time.length();
    matched.last = first.member.rank;
    for (const Entry& e : place) {
      result_.members.push_back(e.member);
      DurationNs own = row(e.member).time.length();
      if (own < matched.transfer) {
        matched.transfer = own;
        matched.last = e.member.rank;
      }
      matched.longest_wait = std::max(matched.longest_wait, own);
    }
    matched.longest_wait =
        matched.tells_waits ? matched.longest_wait - matched.transfer : DurationNs{};
    result_.all.push_back(matched);
  }

  std::span<const RankSummary> ranks_;
  Matching result_;
  std::map<CollectiveGroup, std::uint32_t> groups_;
  Numbering communicators_;
  Numbering kinds_;
  std::set<std::string> ambiguous_;
};

}  // namespace

Matching match_collectives(std::span<const RankSummary> ranks) {
  return Matcher(ranks).run();
}

DurationNs wait_of(const MatchedCollective& collective, const RankCollective& row) {
  if (!collective.tells_waits) return {};
  return std::max(DurationNs{}, row.time.length() - collective.transfer);
}

}  // namespace headway::analyzer
