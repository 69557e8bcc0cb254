// SPDX-License-Identifier: MIT
// D12: a collective moves its data after the last rank has come, and ends on no rank before. Members
// are matched by communicator and sequence number, else by their order in the communicator
// (inferred); the two ends of a message by their order between its ranks. D13: the collectives of a
// communicator keep their order on every rank.
#include <algorithm>
#include <map>

#include "analyzer/graph/edges.h"

namespace headway::analyzer {
namespace {

using namespace trace;

struct Member {
  StringId communicator;
  StringId kind;
  std::int64_t sequence;
  bool counted;       ///< the sequence is our count, not the recording's
  std::int32_t from;  ///< of a message; else -1
  std::int32_t to;
  std::int32_t rank;
  DeviceOpId op;

  auto which() const { return std::tuple(communicator, kind, sequence, counted, from, to); }
  auto key() const { return std::tuple(which(), rank, op); }
  bool same_collective(const Member& other) const { return which() == other.which(); }
};

std::int32_t rank_of(const Trace& trace, DeviceOpId op) {
  return trace.processes[trace.streams[trace.device_ops.stream[op.value].value].process.value].rank;
}

/// Every rank's part in every collective that all members of a communicator take part in.
std::vector<Member> members_of(const Trace& trace) {
  std::vector<Member> members;
  std::map<std::tuple<StringId, StringId, std::int32_t>, std::int64_t> counts;
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::int64_t> messages;
  for (const Collective& collective : trace.collectives) {
    if (!collective.op.valid()) continue;
    std::string_view kind = trace.strings[collective.kind];
    const std::int32_t rank = rank_of(trace, collective.op);
    if (kind == "send" || kind == "recv") {
      if (collective.peer < 0 || collective.peer == rank) continue;
      const std::int32_t from = kind == "send" ? rank : collective.peer;
      const std::int32_t to = kind == "send" ? collective.peer : rank;
      members.push_back(
          {{}, {}, messages[{from, to, rank}]++, true, from, to, rank, collective.op});
      continue;
    }
    Member member{collective.communicator,
                  collective.kind,
                  collective.sequence,
                  collective.sequence < 0,
                  -1,
                  -1,
                  rank,
                  collective.op};
    if (member.counted) member.sequence = counts[{member.communicator, member.kind, member.rank}]++;
    members.push_back(member);
  }
  std::sort(members.begin(), members.end(),
            [](const Member& a, const Member& b) { return a.key() < b.key(); });
  return members;
}

}  // namespace

std::vector<Rendezvous> find_rendezvous(const Trace& trace, std::int64_t& contradicted) {
  std::vector<Member> members = members_of(trace);
  std::vector<Rendezvous> groups;
  for (std::size_t i = 0; i < members.size();) {
    Rendezvous group;
    group.last_start = TimeNs::min();
    group.inferred = members[i].counted;
    const bool message = members[i].from >= 0;
    TimeNs first_end = TimeNs::max();
    std::size_t j = i;
    for (; j < members.size() && members[j].same_collective(members[i]); ++j) {
      if (j > i && members[j].rank == members[j - 1].rank) continue;  // one kernel a rank
      Interval interval = trace.device_ops.interval(members[j].op);
      group.ops.push_back(members[j].op);
      group.last_start = std::max(group.last_start, interval.begin);
      first_end = std::min(first_end, interval.end);
    }
    i = j;
    if (group.ops.size() < 2) continue;
    if (first_end < group.last_start) {
      // A message may be buffered until the receiver asks for it.
      contradicted += message ? 0 : 1;
      continue;
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

void add_collectives(std::span<const Rendezvous> groups, EdgeSink& sink) {
  const Points& points = sink.points;
  const Trace& trace = points.trace();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    TaskId met = points.rendezvous_task(g);
    for (DeviceOpId op : groups[g].ops) {
      sink.add(start_of(points.task(op)), start_of(met), EdgeKind::kRendezvous, groups[g].inferred);
      sink.add(end_of(met), end_of(points.task(op)), EdgeKind::kTransfer, groups[g].inferred);
    }
  }
  std::map<std::pair<StringId, std::int32_t>, DeviceOpId> last;
  for (const Collective& collective : trace.collectives) {
    if (!collective.op.valid() || collective.sequence < 0) continue;
    DeviceOpId& previous = last[{collective.communicator, rank_of(trace, collective.op)}];
    if (previous.valid() &&
        trace.device_ops.stream[previous.value] != trace.device_ops.stream[collective.op.value]) {
      sink.add(end_of(points.task(previous)), start_of(points.task(collective.op)),
               EdgeKind::kCollectiveOrder, false);
    }
    previous = collective.op;
  }
}

}  // namespace headway::analyzer
