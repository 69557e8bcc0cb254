// SPDX-License-Identifier: MIT
// Tables over device work: kernels, launches, copies, devices.
#include <algorithm>
#include <array>

#include "analyzer/stats/labels.h"
#include "analyzer/stats/summary.h"
#include "analyzer/stats/tables.h"

namespace headway::analyzer {
namespace {

using namespace trace;

std::string as_it_is(std::string_view name) {
  return std::string(name);
}

std::string_view memory_label(std::uint64_t kind) {
  static constexpr std::array<std::string_view, 5> kMemory = {"", "pageable", "pinned", "device",
                                                              "managed"};
  return kind < kMemory.size() ? kMemory[kind] : "";
}

std::int64_t length(const DeviceOps& ops, std::size_t i) {
  return (ops.end[i] - ops.start[i]).ns;
}

/// Groups of copies by name and by the memory they read and write.
std::uint64_t copy_key(const DeviceOps& ops, std::size_t i, std::uint32_t name_group) {
  return std::uint64_t{name_group} << 8 | static_cast<std::uint64_t>(ops.source_memory[i]) << 4 |
         static_cast<std::uint64_t>(ops.destination_memory[i]);
}

struct CopyGroups {
  NameGroups names;
  KeyGroups keys;
  std::vector<DurationSummary> values;

  std::vector<Cell> identity(std::uint32_t group) const {
    std::uint64_t key = keys.keys()[group];
    return {names.label(static_cast<std::uint32_t>(key >> 8)),
            std::string(memory_label(key >> 4 & 15)), std::string(memory_label(key & 15))};
  }
};

/// Copies and sets by kind; what is summed up is their time or, with `sizes`, their bytes.
CopyGroups group_copies(const Trace& trace, const Selection& selection, bool sizes) {
  CopyGroups groups{{trace.strings, as_it_is}, {}, {}};
  const DeviceOps& ops = trace.device_ops;
  GroupedValues values;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (!is_copy_or_set(ops.kind[i]) || !selection.has(DeviceOpId{i})) continue;
    values.add(groups.keys.of(copy_key(ops, i, groups.names.of(ops.name[i]))),
               sizes ? ops.bytes[i] : length(ops, i), ops.bytes[i]);
  }
  groups.values = values.finish();
  return groups;
}

}  // namespace

Table kernel_table(const Trace& trace, const Analysis&, const Selection& selection) {
  const DeviceOps& ops = trace.device_ops;
  NameGroups names(trace.strings, as_it_is);
  GroupedValues values;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (is_copy_or_set(ops.kind[i]) || !selection.has(DeviceOpId{i})) continue;
    values.add(names.of(ops.name[i]), length(ops, i));
  }
  return duration_table(
      {"kernels", "Kernels", "Over the whole trace; shares are of all kernel time.", {}, {}},
      {"kernel", "Kernel", ColumnKind::kText}, names, values.finish());
}

Table launch_table(const Trace& trace, const Analysis&, const Selection& selection) {
  const DeviceOps& ops = trace.device_ops;
  NameGroups names(trace.strings, as_it_is);
  GroupedValues calls;
  GroupedValues queues;
  GroupedValues latencies;
  GroupedValues runs;
  for (std::uint32_t s = 0; s < trace.streams.size(); ++s) {
    TimeNs stream_free = TimeNs::min();
    for (DeviceOpId op : trace.ops_of_stream[{s}]) {
      Interval run = ops.interval(op);
      CallId call = ops.call[op.value];
      bool empty = call.valid() && stream_free <= trace.calls.start[call.value];
      stream_free = std::max(stream_free, run.end);
      if (!call.valid() || is_copy_or_set(ops.kind[op.value]) || !selection.has(op)) continue;
      std::uint32_t group = names.of(ops.name[op.value]);
      Interval launch = trace.calls.interval(call);
      calls.add(group, launch.length().ns);
      queues.add(group, std::max<std::int64_t>(0, (run.begin - launch.end).ns));
      if (empty) latencies.add(group, std::max<std::int64_t>(0, (run.begin - launch.begin).ns));
      runs.add(group, run.length().ns);
    }
  }
  Table table{"launches",
              "Launches",
              "Over the whole trace; latency covers launches on an empty stream.",
              {},
              {}};
  table.columns = {{"kernel", "Kernel", ColumnKind::kText},
                   {"count", "Count", ColumnKind::kCount},
                   {"kernel_total_ns", "Total", ColumnKind::kDuration},
                   {"kernel_mean_ns", "Mean", ColumnKind::kDuration},
                   {"kernel_median_ns", "Median", ColumnKind::kDuration},
                   {"queue_mean_ns", "Queue mean", ColumnKind::kDuration},
                   {"queue_median_ns", "Queue median", ColumnKind::kDuration},
                   {"queue_max_ns", "Queue largest", ColumnKind::kDuration},
                   {"latency_median_ns", "Latency median", ColumnKind::kDuration},
                   {"latency_count", "Stream empty", ColumnKind::kCount},
                   {"call_mean_ns", "Call mean", ColumnKind::kDuration},
                   {"call_median_ns", "Call median", ColumnKind::kDuration}};
  std::vector<DurationSummary> call = calls.finish();
  std::vector<DurationSummary> queue = queues.finish();
  std::vector<DurationSummary> latency = latencies.finish();
  std::vector<DurationSummary> run = runs.finish();
  latency.resize(call.size());
  for (std::uint32_t g = 0; g < call.size(); ++g) {
    table.rows.push_back({names.label(g), call[g].count, run[g].total, run[g].mean(), run[g].median,
                          queue[g].mean(), queue[g].median, queue[g].maximum,
                          latency[g].count ? Cell(latency[g].median) : Cell(), latency[g].count,
                          call[g].mean(), call[g].median});
  }
  sort_by(table, 2);
  return table;
}

Table copy_table(const Trace& trace, const Analysis&, const Selection& selection) {
  CopyGroups groups = group_copies(trace, selection, false);
  std::int64_t all = 0;
  for (const DurationSummary& sum : groups.values) all += sum.total;
  Table table{"copies",
              "Copies and memory sets",
              "Over the whole trace; shares are of their total time.",
              {},
              {}};
  table.columns = {
      {"what", "What", ColumnKind::kText},        {"source", "From", ColumnKind::kText},
      {"destination", "To", ColumnKind::kText},   {"count", "Count", ColumnKind::kCount},
      {"bytes", "Bytes", ColumnKind::kBytes},     {"total_ns", "Total", ColumnKind::kDuration},
      {"share", "Share", ColumnKind::kPercent},   {"bytes_per_s", "Rate", ColumnKind::kByteRate},
      {"mean_ns", "Mean", ColumnKind::kDuration}, {"median_ns", "Median", ColumnKind::kDuration},
      {"min_ns", "Least", ColumnKind::kDuration}, {"max_ns", "Largest", ColumnKind::kDuration}};
  for (std::uint32_t g = 0; g < groups.values.size(); ++g) {
    const DurationSummary& sum = groups.values[g];
    std::vector<Cell>& row = table.rows.emplace_back(groups.identity(g));
    row.insert(row.end(),
               {sum.count, sum.bytes, sum.total, ratio({sum.total}, {all}),
                rate_cell(sum.bytes, sum.total), sum.mean(), sum.median, sum.minimum, sum.maximum});
  }
  sort_by(table, 5);
  return table;
}

Table copy_size_table(const Trace& trace, const Analysis&, const Selection& selection) {
  CopyGroups groups = group_copies(trace, selection, true);
  Table table{"copy-sizes", "Sizes of copies and memory sets", "Over the whole trace.", {}, {}};
  table.columns = {{"what", "What", ColumnKind::kText},
                   {"source", "From", ColumnKind::kText},
                   {"destination", "To", ColumnKind::kText},
                   {"count", "Count", ColumnKind::kCount},
                   {"total_bytes", "Total", ColumnKind::kBytes},
                   {"mean_bytes", "Mean", ColumnKind::kBytes},
                   {"median_bytes", "Median", ColumnKind::kBytes},
                   {"min_bytes", "Least", ColumnKind::kBytes},
                   {"max_bytes", "Largest", ColumnKind::kBytes},
                   {"stddev_bytes", "Std dev", ColumnKind::kBytes}};
  for (std::uint32_t g = 0; g < groups.values.size(); ++g) {
    const DurationSummary& sum = groups.values[g];
    std::vector<Cell>& row = table.rows.emplace_back(groups.identity(g));
    row.insert(row.end(), {sum.count, sum.total, sum.mean(), sum.median, sum.minimum, sum.maximum,
                           sum.stddev});
  }
  sort_by(table, 4);
  return table;
}

Table device_table(const Trace& trace, const Analysis& analysis) {
  Table table{"devices",
              "Devices",
              "Each device over its own span, ignoring the host; the four parts sum to the span.",
              {},
              {}};
  table.columns = {{"device", "Device", ColumnKind::kCount},
                   {"name", "Name", ColumnKind::kText},
                   {"span_ns", "Span", ColumnKind::kDuration},
                   {"compute_ns", "Compute", ColumnKind::kDuration},
                   {"exposed_comm_ns", "Exposed communication", ColumnKind::kDuration},
                   {"exposed_copy_ns", "Exposed copies", ColumnKind::kDuration},
                   {"idle_ns", "Idle", ColumnKind::kDuration},
                   {"comm_ns", "Communication", ColumnKind::kDuration},
                   {"overlap_ns", "Hidden", ColumnKind::kDuration},
                   {"kernels", "Kernels", ColumnKind::kCount},
                   {"copies", "Copies", ColumnKind::kCount},
                   {"memsets", "Sets", ColumnKind::kCount}};
  for (const DeviceView& view : analysis.device_views) {
    const Device& device = trace.devices[view.device.value];
    table.rows.push_back({static_cast<std::int64_t>(device.ordinal), device.name, view.span.ns,
                          view.compute.ns, view.exposed_comm.ns, view.exposed_copy.ns, view.idle.ns,
                          view.comm.ns, view.overlap.ns, view.kernels, view.copies, view.memsets});
  }
  return table;
}

}  // namespace headway::analyzer
