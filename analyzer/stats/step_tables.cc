// SPDX-License-Identifier: MIT
// Tables over steps: the partition, and every step.
#include <fmt/format.h>

#include "analyzer/stats/labels.h"
#include "analyzer/stats/tables.h"

namespace headway::analyzer {

Table partition_table(const trace::Trace& trace, const Analysis& analysis,
                      const Selection& selection) {
  bool has_steps = !analysis.steps.all.empty();
  Table table{"partition", "Where the time went", "", {}, {}};
  table.columns = {{"device", "Device", ColumnKind::kText},
                   {"class", "Class", ColumnKind::kText},
                   {"label", "What", ColumnKind::kText},
                   {"ns_per_step", has_steps ? "Per step" : "Total", ColumnKind::kDuration},
                   {"share", has_steps ? "Share of step" : "Share of span", ColumnKind::kPercent}};
  std::int64_t steady = 0;
  for (const DevicePartition& partition : analysis.partitions) {
    if (!selection.has(partition.device)) continue;
    SelectedSteps steps = selected_steps(analysis, partition, selection);
    steady = steps.count;
    for (const TimeClassInfo& c : time_classes()) {
      DurationNs time = steps.mean[c.time_class];
      if (time.ns == 0) continue;
      table.rows.push_back({partition_label(trace, partition), std::string(c.id),
                            std::string(c.label), time.ns, ratio(time, steps.mean.total())});
    }
  }
  table.note = has_steps ? fmt::format(
                               "Per step, over {} steady steps including time between steps; a "
                               "device's classes sum to its step cost.",
                               steady)
                         : "Over the whole span: the trace has no steps. The classes sum to it.";
  return table;
}

Table step_table(const trace::Trace& trace, const Analysis& analysis, const Selection& selection) {
  Table table{"steps", "Steps", analysis.steps.how, {}, {}};
  table.columns = {{"number", "Step", ColumnKind::kCount},
                   {"device", "Device", ColumnKind::kText},
                   {"start_ns", "Start", ColumnKind::kDuration},
                   {"host_ns", "On the host", ColumnKind::kDuration},
                   {"device_ns", "On the device", ColumnKind::kDuration},
                   {"steady", "Steady", ColumnKind::kText}};
  for (const TimeClassInfo& c : time_classes())
    table.columns.push_back(
        {fmt::format("{}_ns", c.id), std::string(c.label), ColumnKind::kDuration});
  auto add = [&](const Step& step, const DevicePartition* partition, const DeviceStep* on_device) {
    std::vector<Cell> row = {step.number,
                             partition ? Cell(partition_label(trace, *partition)) : Cell(),
                             step.host.begin.ns,
                             step.host.length().ns,
                             on_device ? Cell(on_device->interval.length().ns) : Cell(),
                             std::string(step.steady ? "yes" : "no")};
    for (const TimeClassInfo& c : time_classes())
      row.push_back(on_device ? Cell(on_device->times[c.time_class].ns) : Cell());
    table.rows.push_back(std::move(row));
  };
  for (const DevicePartition& partition : analysis.partitions) {
    if (analysis.steps.all.empty()) break;
    for (const DeviceStep& step : partition.steps)
      if (selection.has(partition.device) && selection.has_step(step.step))
        add(analysis.steps.all[step.step], &partition, &step);
  }
  if (analysis.partitions.empty()) {
    for (std::uint32_t i = 0; i < analysis.steps.all.size(); ++i)
      if (selection.has_step(i)) add(analysis.steps.all[i], nullptr, nullptr);
  }
  // Columns that are zero throughout say nothing.
  for (std::size_t c = table.columns.size(); c-- > 6;) {
    bool used = false;
    for (const auto& row : table.rows)
      used = used ||
             (std::holds_alternative<std::int64_t>(row[c]) && std::get<std::int64_t>(row[c]) != 0);
    if (used) continue;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(c));
    for (auto& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
  }
  return table;
}

}  // namespace headway::analyzer
