// SPDX-License-Identifier: MIT
// Tables over device work: ops, kernels, copies, devices.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analyzer/partition/steady_ops.h"
#include "analyzer/stats/summary.h"
#include "analyzer/stats/tables.h"

namespace headway::analyzer {
namespace {

using namespace trace;

std::string_view phase_label(Phase phase) {
  switch (phase) {
    case Phase::kNone:
      return "";
    case Phase::kInput:
      return "input";
    case Phase::kForward:
      return "forward";
    case Phase::kBackward:
      return "backward";
    case Phase::kUpdate:
      return "update";
    case Phase::kCommunication:
      return "communication";
    case Phase::kEvaluation:
      return "evaluation";
  }
  return "";
}

bool is_copy_or_set(DeviceOpKind kind) {
  return kind != DeviceOpKind::kKernel && kind != DeviceOpKind::kCommunication;
}

double rate(std::int64_t amount, DurationNs time) {
  return time.ns > 0 ? static_cast<double>(amount) / time.seconds() : 0;
}

}  // namespace

namespace {

/// Device work per op, over the counted steps of all devices.
struct OpWork {
  DurationNs time;
  std::int64_t kernels = 0;
  std::int64_t bytes = 0;
  std::int64_t flops = 0;

  void add(const OpWork& other) {
    time += other.time;
    kernels += other.kernels;
    bytes += other.bytes;
    flops += other.flops;
  }
};

std::pair<std::vector<OpWork>, std::int64_t> work_of_ops(const Trace& trace,
                                                         const Analysis& analysis) {
  std::vector<OpWork> work(analysis.attribution.ops.size());
  std::int64_t steps = 0;
  for (const DevicePartition& partition : analysis.partitions) {
    steps +=
        for_each_steady_op(trace, analysis.steps, partition, [&](const DeviceStep&, DeviceOpId op) {
          work[analysis.attribution.op_of[op.value].value].add(
              {trace.device_ops.interval(op).length(), 1, trace.device_ops.bytes[op.value],
               trace.device_ops.flops[op.value]});
        });
  }
  return {std::move(work), steps};
}

/// An empty table over ops: `identity` columns, then the figures that `append_figures` fills.
Table make_op_table(const Analysis& analysis, std::string id, std::string title,
                    std::vector<Column> identity, std::int64_t steps) {
  Table table{std::move(id), std::move(title), "", std::move(identity), {}};
  for (Column column :
       std::initializer_list<Column>{{"ns_per_step", "Per step", ColumnKind::kDuration},
                                     {"share", "Share", ColumnKind::kPercent},
                                     {"kernels_per_step", "Kernels", ColumnKind::kNumber},
                                     {"bytes_per_s", "Memory", ColumnKind::kByteRate},
                                     {"flop_per_s", "Arithmetic", ColumnKind::kFlopRate}}) {
    table.columns.push_back(std::move(column));
  }
  table.note = analysis.steps.all.empty()
                   ? "Over the whole span of each device; ops that overlap count each."
                   : fmt::format(
                         "Mean of {} steady steps; shares are of the mean step, and ops that "
                         "overlap count each.",
                         steps);
  return table;
}

void append_figures(std::vector<Cell>& row, const OpWork& work, std::int64_t steps,
                    const Analysis& analysis) {
  DurationNs step;
  for (const DevicePartition& partition : analysis.partitions)
    step = std::max(step, partition.per_steady_step.total());
  DurationNs per_step = work.time / std::max<std::int64_t>(1, steps);
  row.push_back(per_step.ns);
  row.push_back(ratio(per_step, step));
  row.push_back(static_cast<double>(work.kernels) /
                static_cast<double>(std::max<std::int64_t>(1, steps)));
  row.push_back(work.bytes ? Cell(rate(work.bytes, work.time)) : Cell());
  row.push_back(work.flops ? Cell(rate(work.flops, work.time)) : Cell());
}

}  // namespace

Table op_table(const Trace& trace, const Analysis& analysis) {
  auto [work, steps] = work_of_ops(trace, analysis);
  Table table = make_op_table(analysis, "ops", "Ops of the model",
                              {{"op", "Op", ColumnKind::kText},
                               {"type", "Type", ColumnKind::kText},
                               {"phase", "Phase", ColumnKind::kText}},
                              steps);
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (work[i].kernels == 0) continue;
    const ModelOp& op = analysis.attribution.ops[i];
    std::vector<Cell>& row = table.rows.emplace_back(
        std::vector<Cell>{op.name, op.type, std::string(phase_label(op.phase))});
    append_figures(row, work[i], steps, analysis);
  }
  sort_by(table, 3);
  return table;
}

Table op_type_table(const Trace& trace, const Analysis& analysis) {
  auto [work, steps] = work_of_ops(trace, analysis);
  struct Group {
    OpWork work;
    std::int64_t ops = 0;
  };
  std::map<std::pair<std::string, Phase>, Group> groups;
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (work[i].kernels == 0) continue;
    const ModelOp& op = analysis.attribution.ops[i];
    Group& group = groups[{op.type.empty() ? op.name : op.type, op.phase}];
    group.work.add(work[i]);
    ++group.ops;
  }
  Table table = make_op_table(analysis, "op-types", "Types of ops",
                              {{"type", "Type", ColumnKind::kText},
                               {"phase", "Phase", ColumnKind::kText},
                               {"ops", "Ops", ColumnKind::kCount}},
                              steps);
  for (const auto& [key, group] : groups) {
    std::vector<Cell>& row = table.rows.emplace_back(
        std::vector<Cell>{key.first, std::string(phase_label(key.second)), group.ops});
    append_figures(row, group.work, steps, analysis);
  }
  sort_by(table, 3);
  return table;
}

Table kernel_table(const Trace& trace, const Analysis&) {
  std::map<StringId, DurationSummary> by_name;
  std::int64_t all = 0;
  for (std::size_t i = 0; i < trace.device_ops.size(); ++i) {
    if (is_copy_or_set(trace.device_ops.kind[i])) continue;
    std::int64_t ns = (trace.device_ops.end[i] - trace.device_ops.start[i]).ns;
    by_name[trace.device_ops.name[i]].add(ns);
    all += ns;
  }
  Table table{
      "kernels", "Kernels", "Over the whole trace; shares are of the summed kernel time.", {}, {}};
  table.columns = {
      {"kernel", "Kernel", ColumnKind::kText},      {"count", "Count", ColumnKind::kCount},
      {"total_ns", "Total", ColumnKind::kDuration}, {"share", "Share", ColumnKind::kPercent},
      {"mean_ns", "Mean", ColumnKind::kDuration},   {"median_ns", "Median", ColumnKind::kDuration},
      {"min_ns", "Least", ColumnKind::kDuration},   {"max_ns", "Largest", ColumnKind::kDuration}};
  for (const auto& [name, sum] : by_name) {
    table.rows.push_back({std::string(trace.strings[name]), sum.count(), sum.total(),
                          ratio({sum.total()}, {all}), sum.mean(), sum.median(), sum.minimum(),
                          sum.maximum()});
  }
  sort_by(table, 2);
  return table;
}

Table copy_table(const Trace& trace, const Analysis&) {
  std::map<std::pair<StringId, MemoryKind>, DurationSummary> by_kind;
  for (std::size_t i = 0; i < trace.device_ops.size(); ++i) {
    if (!is_copy_or_set(trace.device_ops.kind[i])) continue;
    by_kind[{trace.device_ops.name[i], trace.device_ops.source_memory[i]}].add(
        (trace.device_ops.end[i] - trace.device_ops.start[i]).ns, trace.device_ops.bytes[i]);
  }
  Table table{"copies", "Copies and memory sets", "Over the whole trace.", {}, {}};
  table.columns = {
      {"what", "What", ColumnKind::kText},          {"source", "From", ColumnKind::kText},
      {"count", "Count", ColumnKind::kCount},       {"bytes", "Bytes", ColumnKind::kBytes},
      {"total_ns", "Total", ColumnKind::kDuration}, {"bytes_per_s", "Rate", ColumnKind::kByteRate},
      {"mean_ns", "Mean", ColumnKind::kDuration},   {"max_ns", "Largest", ColumnKind::kDuration}};
  static constexpr std::array<const char*, 5> kMemory = {"", "pageable", "pinned", "device",
                                                         "managed"};
  for (const auto& [key, sum] : by_kind) {
    auto memory = static_cast<std::size_t>(key.second);
    table.rows.push_back({std::string(trace.strings[key.first]),
                          std::string(memory < kMemory.size() ? kMemory[memory] : ""), sum.count(),
                          sum.bytes(), sum.total(), rate(sum.bytes(), {sum.total()}), sum.mean(),
                          sum.maximum()});
  }
  sort_by(table, 4);
  return table;
}

Table device_table(const Trace& trace, const Analysis& analysis) {
  Table table{
      "devices",
      "Devices",
      "Each over its own span, without looking at the host; the four parts sum to the span.",
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
                   {"overlap_ns", "of it hidden", ColumnKind::kDuration},
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
