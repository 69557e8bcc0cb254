// SPDX-License-Identifier: MIT
// Sums over collectives. The waiting and the transfer of a rank can be told apart only across ranks.
#include <algorithm>

#include "analyzer/ranks/collectives.h"
#include "analyzer/stats/labels.h"
#include "analyzer/stats/summary.h"
#include "analyzer/stats/tables.h"

namespace headway::analyzer {
namespace {

using namespace trace;

struct Identity {
  std::string kind;
  std::string communicator;
  std::string dtype;
  std::int32_t ranks = 0;
  bool operator==(const Identity&) const = default;
};

struct Group {
  Identity identity;
  double best_bus = 0;  ///< bytes per second
};

}  // namespace

Table collective_sum_table(const Trace& trace, const Analysis&, const Selection& selection) {
  const DeviceOps& ops = trace.device_ops;
  std::vector<std::uint32_t> told_by(trace.collectives.empty() ? 0 : ops.size(), UINT32_MAX);
  for (std::uint32_t i = 0; i < trace.collectives.size(); ++i) {
    if (trace.collectives[i].op.valid()) told_by[trace.collectives[i].op.value] = i;
  }
  NameGroups kernels(trace.strings, [](std::string_view name) { return std::string(name); });
  std::vector<Group> groups;
  GroupedValues values;
  auto group_of = [&](const Identity& identity) {
    auto known = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& group) { return group.identity == identity; });
    if (known == groups.end()) known = groups.insert(groups.end(), {identity, 0});
    return static_cast<std::uint32_t>(known - groups.begin());
  };
  // One search per distinct combination, not per event.
  KeyGroups pairs;
  KeyGroups keys;
  std::vector<std::uint32_t> group_of_key;
  auto lookup = [&](std::uint64_t key, auto make_identity) {
    std::uint32_t k = keys.of(key);
    if (k == group_of_key.size()) group_of_key.push_back(group_of(make_identity()));
    return group_of_key[k];
  };
  // By the kernel's name, looked at once per name.
  std::vector<std::int8_t> by_name(trace.strings.size() + 1, -1);
  auto communicates = [&](std::uint32_t op) {
    if (ops.kind[op] != DeviceOpKind::kKernel) return ops.kind[op] == DeviceOpKind::kCommunication;
    std::int8_t& known = by_name[std::min<std::size_t>(ops.name[op].value, by_name.size() - 1)];
    if (known < 0) known = is_communication(trace, {op});
    return known != 0;
  };
  std::int64_t all = 0;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    bool told = !told_by.empty() && told_by[i] != UINT32_MAX;
    if (!told && !communicates(i)) continue;
    if (!selection.has(DeviceOpId{i})) continue;
    std::int64_t ns = ops.interval({i}).length().ns;
    all += ns;
    if (!told) {
      std::uint32_t group = lookup(std::uint64_t{UINT32_MAX} << 32 | ops.name[i].value, [&] {
        return Identity{kernels.label(kernels.of(ops.name[i])), "", "", 0};
      });
      values.add(group, ns, std::max<std::int64_t>(0, ops.bytes[i]));
      continue;
    }
    const Collective& c = trace.collectives[told_by[i]];
    std::uint64_t pair = pairs.of(std::uint64_t{c.kind.value} << 32 | c.communicator.value);
    std::uint64_t key = pair << 32 | c.dtype.value;
    std::uint32_t group = lookup(key, [&] {
      return Identity{std::string(trace.strings[c.kind]),
                      std::string(trace.strings[c.communicator]),
                      std::string(trace.strings[c.dtype]), c.ranks};
    });
    std::int64_t bytes = std::max<std::int64_t>(0, c.bytes);
    values.add(group, ns, bytes);
    double bus = ns > 0 ? static_cast<double>(bytes) / DurationNs{ns}.seconds() *
                              bus_factor(groups[group].identity.kind, c.ranks)
                        : 0;
    groups[group].best_bus = std::max(groups[group].best_bus, bus);
  }
  Table table{"collective-sums",
              "Collectives",
              "Over the whole trace, including waiting; shares are of all communication.",
              {},
              {}};
  table.columns = {{"collective", "Collective", ColumnKind::kText},
                   {"communicator", "Communicator", ColumnKind::kText},
                   {"dtype", "Type", ColumnKind::kText},
                   {"ranks", "Ranks", ColumnKind::kCount},
                   {"count", "Count", ColumnKind::kCount},
                   {"bytes", "Bytes", ColumnKind::kBytes},
                   {"total_ns", "Total", ColumnKind::kDuration},
                   {"share", "Share", ColumnKind::kPercent},
                   {"mean_ns", "Mean", ColumnKind::kDuration},
                   {"median_ns", "Median", ColumnKind::kDuration},
                   {"min_ns", "Least", ColumnKind::kDuration},
                   {"max_ns", "Largest", ColumnKind::kDuration},
                   {"bus_bytes_per_s", "Best bus rate", ColumnKind::kByteRate}};
  std::uint32_t g = 0;
  for (const DurationSummary& sum : values.finish()) {
    const Group& group = groups[g++];
    const Identity& id = group.identity;
    table.rows.push_back({id.kind, id.communicator, id.dtype,
                          id.ranks ? Cell(std::int64_t{id.ranks}) : Cell(), sum.count,
                          sum.bytes ? Cell(sum.bytes) : Cell(), sum.total,
                          ratio({sum.total}, {all}), sum.mean(), sum.median, sum.minimum,
                          sum.maximum, group.best_bus > 0 ? Cell(group.best_bus) : Cell()});
  }
  sort_by(table, 6);
  return table;
}

}  // namespace headway::analyzer
