// SPDX-License-Identifier: MIT
// Tables over ranks and over communication; of one rank too.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analyzer/job/summarise.h"
#include "analyzer/ranks/identity.h"
#include "analyzer/ranks/job.h"
#include "analyzer/stats/summary.h"
#include "analyzer/stats/tables.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

Cell duration_or_nothing(const std::optional<DurationNs>& d) {
  return d ? Cell(d->ns) : Cell();
}

std::vector<Cell> rank_row(const RankSummary& rank, const RankRole* role) {
  const RankDevice* device = main_device(rank);
  auto of_class = [&](TimeClass c) {
    return device ? Cell(device->per_steady_step[c].ns) : Cell();
  };
  std::vector<Cell> row = {
      static_cast<std::int64_t>(rank.identity.rank),
      rank.host,
      device && !device->on_host ? Cell(static_cast<std::int64_t>(device->ordinal)) : Cell(),
      rank.step.ns,
      device ? Cell(device->per_steady_step.of_group(TimeGroup::kCompute).ns) : Cell(),
      of_class(TimeClass::kCommTransfer),
      of_class(TimeClass::kStragglerWait)};
  if (!role) {
    row.resize(11);
    row[6] = Cell();  // a rank alone cannot tell waiting from transfer
  } else {
    row.push_back(role->caused_wait.ns);
    row.push_back(role->synchronised ? Cell(static_cast<double>(role->last) /
                                            static_cast<double>(role->synchronised))
                                     : Cell());
    row.push_back(role->cause ? Cell(std::string(info(role->cause->time_class).label)) : Cell());
    row.push_back(duration_or_nothing(role->lateness));
  }
  row.push_back(rank.file);
  return row;
}

std::vector<Column> collective_columns() {
  return {{"communicator", "Communicator", ColumnKind::kText},
          {"kind", "Kind", ColumnKind::kText},
          {"bytes", "Message", ColumnKind::kBytes},
          {"ranks", "Ranks", ColumnKind::kCount},
          {"count", "Count", ColumnKind::kCount},
          {"own_ns", "On a rank", ColumnKind::kDuration},
          {"transfer_ns", "Transfer", ColumnKind::kDuration},
          {"wait_ns", "Longest wait", ColumnKind::kDuration},
          {"algorithm_bytes_per_s", "Rate", ColumnKind::kByteRate},
          {"bus_bytes_per_s", "Bus", ColumnKind::kByteRate}};
}

Cell known(std::int64_t value) {
  return value > 0 ? Cell(value) : Cell();
}
Cell known(double value) {
  return value > 0 ? Cell(value) : Cell();
}

Table collectives_of_job(const JobAnalysis& job) {
  Table table{"collectives",
              "Communication",
              "Medians over collectives matched on all ranks. Transfer is the shortest duration on "
              "any rank; the rest is waiting for the last rank.",
              collective_columns(),
              {}};
  for (const CollectiveFigures& figures : job.collectives) {
    table.rows.push_back({figures.group.communicator, figures.group.kind, known(figures.bytes),
                          known(std::int64_t{figures.ranks}), figures.count, figures.own.ns,
                          figures.transfer.ns, figures.wait.ns, known(figures.bytes_per_s),
                          known(figures.bus_bytes_per_s)});
  }
  return table;
}

}  // namespace

Table rank_table(const trace::Trace& trace, const Analysis& analysis) {
  Table table{"ranks",
              "Ranks",
              "Mean steady step; exposed waits only. Caused: the median other rank's wait while "
              "this one is last.",
              {},
              {}};
  table.columns = {{"rank", "Rank", ColumnKind::kCount},
                   {"host", "Host", ColumnKind::kText},
                   {"device", "Device", ColumnKind::kCount},
                   {"step_ns", "Step", ColumnKind::kDuration},
                   {"compute_ns", "Compute", ColumnKind::kDuration},
                   {"comm_transfer_ns", "Transfer", ColumnKind::kDuration},
                   {"straggler_wait_ns", "Waits", ColumnKind::kDuration},
                   {"caused_wait_ns", "Caused", ColumnKind::kDuration},
                   {"last_share", "Last", ColumnKind::kPercent},
                   {"late_because", "Late by", ColumnKind::kText},
                   {"lateness_ns", "Lateness", ColumnKind::kDuration},
                   {"file", "File", ColumnKind::kText}};
  if (analysis.job) {
    for (std::size_t r = 0; r < analysis.job->ranks.size(); ++r)
      table.rows.push_back(rank_row(analysis.job->ranks[r], &analysis.job->roles[r]));
  } else {
    table.rows.push_back(
        rank_row(outline(trace, analysis, ranks_in(trace, 0).front().identity), nullptr));
  }
  return table;
}

Table collective_table(const trace::Trace& trace, const Analysis& analysis) {
  if (analysis.job) return collectives_of_job(*analysis.job);
  Collectives collectives = collectives_of(trace, analysis.steps, analysis.attribution);
  std::map<std::tuple<std::uint32_t, std::int64_t, std::int32_t>, std::uint32_t> groups;
  GroupedValues values;
  for (const RankCollective& row : collectives.rows) {
    auto next = static_cast<std::uint32_t>(groups.size());
    std::uint32_t index = groups.try_emplace({row.group, row.bytes, row.ranks}, next).first->second;
    values.add(index, row.time.length().ns);
  }
  std::vector<DurationSummary> sums = values.finish();
  Table table{"collectives",
              "Communication",
              "Medians on this rank alone include waiting for other ranks, so rates are lower "
              "bounds. Add the traces of all ranks to separate both.",
              collective_columns(),
              {}};
  for (const auto& [key, index] : groups) {
    auto [group, bytes, ranks] = key;
    const DurationSummary& sum = sums[index];
    const CollectiveGroup& of = collectives.groups[group];
    DurationNs own{sum.median};
    double rate = bytes > 0 && own.ns > 0 ? static_cast<double>(bytes) / own.seconds() : 0;
    table.rows.push_back({of.communicator, of.kind, known(bytes), known(std::int64_t{ranks}),
                          sum.count, own.ns, Cell(), Cell(), known(rate),
                          known(rate * bus_factor(of.kind, ranks))});
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
    auto total = [](const std::vector<Cell>& row) {
      return std::get<std::int64_t>(row[4]) * std::get<std::int64_t>(row[5]);
    };
    return total(a) > total(b);
  });
  return table;
}

}  // namespace headway::analyzer
