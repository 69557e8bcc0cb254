// SPDX-License-Identifier: MIT
// Tables over the host: calls, ranges, what ranges launched.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/stats/labels.h"
#include "analyzer/stats/projection.h"
#include "analyzer/stats/summary.h"
#include "analyzer/stats/tables.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Ranges by domain and name, numbers that count left out unless they are to be kept.
class RangeGroups {
 public:
  RangeGroups(const Trace& trace, const Selection& selection)
      : trace_(trace),
        names_(trace.strings, [keep = selection.keep_numbers](std::string_view name) {
          return keep ? std::string(name) : without_numbers(name);
        }) {}

  std::uint32_t of(std::size_t range) {
    return keys_.of(std::uint64_t{names_.of(trace_.ranges.name[range])} << 16 |
                    trace_.ranges.domain[range].value);
  }
  std::vector<Cell> identity(std::uint32_t group) const {
    std::uint64_t key = keys_.keys()[group];
    std::size_t domain = key & 0xffff;
    return {names_.label(static_cast<std::uint32_t>(key >> 16)),
            domain < trace_.domains.size() ? trace_.domains[domain] : std::string()};
  }

 private:
  const Trace& trace_;
  NameGroups names_;
  KeyGroups keys_;
};

}  // namespace

Table call_table(const Trace& trace, const Analysis&, const Selection& selection) {
  NameGroups names(trace.strings, [](std::string_view name) { return std::string(name); });
  GroupedValues values;
  for (std::uint32_t i = 0; i < trace.calls.size(); ++i) {
    if (selection.has(CallId{i}))
      values.add(names.of(trace.calls.name[i]), trace.calls.interval({i}).length().ns);
  }
  return duration_table({"calls",
                         "API calls",
                         "Over the whole trace, all threads; shares are of their total time.",
                         {},
                         {}},
                        {"call", "Call", ColumnKind::kText}, names, values.finish());
}

Table range_table(const Trace& trace, const Analysis&, const Selection& selection) {
  RangeGroups groups(trace, selection);
  GroupedValues values;
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    if (!trace.ranges.is({i}, Ranges::kMark) && selection.has(RangeId{i}))
      values.add(groups.of(i), trace.ranges.interval({i}).length().ns);
  }
  Table table{"ranges",
              "NVTX ranges",
              "Over the whole trace, all threads; outer ranges include inner ones.",
              {},
              {}};
  table.columns = {{"range", "Range", ColumnKind::kText},
                   {"domain", "Domain", ColumnKind::kText},
                   {"count", "Count", ColumnKind::kCount},
                   {"total_ns", "Total", ColumnKind::kDuration},
                   {"mean_ns", "Mean", ColumnKind::kDuration},
                   {"median_ns", "Median", ColumnKind::kDuration},
                   {"min_ns", "Least", ColumnKind::kDuration},
                   {"max_ns", "Largest", ColumnKind::kDuration},
                   {"stddev_ns", "Std dev", ColumnKind::kDuration}};
  std::uint32_t group = 0;
  for (const DurationSummary& sum : values.finish()) {
    std::vector<Cell>& row = table.rows.emplace_back(groups.identity(group++));
    row.insert(row.end(), {sum.count, sum.total, sum.mean(), sum.median, sum.minimum, sum.maximum,
                           sum.stddev});
  }
  sort_by(table, 3);
  return table;
}

Table range_device_table(const Trace& trace, const Analysis& analysis, const Selection& selection) {
  RangeProjection projection = project_ranges(trace, analysis);
  RangeGroups groups(trace, selection);
  GroupedValues values;
  std::vector<std::pair<std::int64_t, std::int64_t>> work;  // per group: busy ns, ops
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    if (!projection.ops[i] || !selection.has(RangeId{i})) continue;
    std::uint32_t group = groups.of(i);
    if (group >= work.size()) work.resize(group + std::size_t{1});
    values.add(group, (projection.last[i] - projection.first[i]).ns);
    work[group].first += projection.busy_ns[i];
    work[group].second += projection.ops[i];
  }
  Table table{"range-device",
              "NVTX ranges on the devices",
              "Over the whole trace; projected is from the first to the last op launched inside.",
              {},
              {}};
  table.columns = {{"range", "Range", ColumnKind::kText},
                   {"domain", "Domain", ColumnKind::kText},
                   {"count", "Count", ColumnKind::kCount},
                   {"projected_ns", "Projected", ColumnKind::kDuration},
                   {"busy_ns", "Busy", ColumnKind::kDuration},
                   {"device_ops", "Device ops", ColumnKind::kCount},
                   {"mean_ns", "Mean", ColumnKind::kDuration},
                   {"median_ns", "Median", ColumnKind::kDuration},
                   {"min_ns", "Least", ColumnKind::kDuration},
                   {"max_ns", "Largest", ColumnKind::kDuration}};
  std::uint32_t group = 0;
  for (const DurationSummary& sum : values.finish()) {
    std::vector<Cell>& row = table.rows.emplace_back(groups.identity(group));
    row.insert(row.end(), {sum.count, sum.total, work[group].first, work[group].second, sum.mean(),
                           sum.median, sum.minimum, sum.maximum});
    ++group;
  }
  sort_by(table, 3);
  return table;
}

}  // namespace headway::analyzer
