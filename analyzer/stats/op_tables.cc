// SPDX-License-Identifier: MIT
// Tables over the ops of the model: each op, types, layers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analyzer/stats/labels.h"
#include "analyzer/stats/summary.h"
#include "analyzer/stats/tables.h"

namespace headway::analyzer {
namespace {

using namespace trace;

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

/// The base of shares.
struct Denominator {
  std::int64_t steps = 0;  ///< over all devices
  DurationNs step;         ///< mean of the slowest device
};

OpWork work_of(const DeviceOps& ops, DeviceOpId op) {
  return {ops.interval(op).length(), 1, ops.bytes[op.value], ops.flops[op.value]};
}

template <class Visit>
Denominator visit_work(const Trace& trace, const Analysis& analysis, const Selection& selection,
                       Visit visit) {
  Denominator over;
  for (const DevicePartition& partition : analysis.partitions) {
    over.steps += for_each_selected_op(trace, analysis, partition, selection, visit);
    over.step = std::max(over.step, selected_steps(analysis, partition, selection).mean.total());
  }
  return over;
}

std::pair<std::vector<OpWork>, Denominator> work_of_ops(const Trace& trace,
                                                        const Analysis& analysis,
                                                        const Selection& selection) {
  std::vector<OpWork> work(analysis.attribution.ops.size());
  Denominator over = visit_work(trace, analysis, selection, [&](DeviceOpId op) {
    work[analysis.attribution.op_of[op.value].value].add(work_of(trace.device_ops, op));
  });
  return {std::move(work), over};
}

std::string note_of(const Analysis& analysis, const Denominator& over) {
  if (analysis.steps.all.empty() && over.steps > 1)
    return fmt::format(
        "Mean of {} devices, each over its whole span; overlapping ops each count in full.",
        over.steps);
  return analysis.steps.all.empty()
             ? "Over the device's whole span; overlapping ops each count in full."
             : fmt::format(
                   "Mean of {} steady steps; shares are of the step cost; overlapping ops each "
                   "count in full.",
                   over.steps);
}

std::string time_label(const Analysis& analysis) {
  return analysis.steps.all.empty() ? "Total" : "Per step";
}

/// An empty table over ops: `identity` columns, then the figures that `append_figures` fills.
Table make_op_table(const Analysis& analysis, std::string id, std::string title,
                    std::vector<Column> identity, const Denominator& over) {
  Table table{std::move(id), std::move(title), note_of(analysis, over), std::move(identity), {}};
  for (Column column :
       std::initializer_list<Column>{{"ns_per_step", time_label(analysis), ColumnKind::kDuration},
                                     {"share", "Share", ColumnKind::kPercent},
                                     {"kernels_per_step", "Kernels", ColumnKind::kNumber},
                                     {"bytes_per_s", "Memory", ColumnKind::kByteRate},
                                     {"flop_per_s", "Arithmetic", ColumnKind::kFlopRate}}) {
    table.columns.push_back(std::move(column));
  }
  return table;
}

void append_figures(std::vector<Cell>& row, const OpWork& work, const Denominator& over) {
  std::int64_t steps = std::max<std::int64_t>(1, over.steps);
  DurationNs per_step = work.time / steps;
  row.push_back(per_step.ns);
  row.push_back(ratio(per_step, over.step));
  row.push_back(static_cast<double>(work.kernels) / static_cast<double>(steps));
  row.push_back(rate_cell(work.bytes, work.time.ns));
  row.push_back(rate_cell(work.flops, work.time.ns));
}

constexpr std::string_view kModule = "nn.Module: ";

/// The innermost module around each range, none outside all modules. A parent stands before its
/// children.
std::vector<StringId> modules_of_ranges(const Trace& trace) {
  std::vector<std::uint8_t> is_module(trace.strings.size());
  for (std::uint32_t i = 0; i < is_module.size(); ++i)
    is_module[i] = trace.strings[{i}].starts_with(kModule);
  std::vector<StringId> module_of(trace.ranges.size());
  for (std::size_t i = 0; i < module_of.size(); ++i) {
    StringId name = trace.ranges.name[i];
    RangeId parent = trace.ranges.parent[i];
    if (name.value < is_module.size() && is_module[name.value])
      module_of[i] = name;
    else if (parent.valid() && parent.value < i)
      module_of[i] = module_of[parent.value];
  }
  return module_of;
}

/// "layer1.0.conv1" -> "layer1.0", "fc" -> "fc": for ops that the model's graph names. A backward op
/// is in the layer of its forward op.
std::string layer_of_graph_op(const Trace& trace, GraphOpId id) {
  const GraphOp* op = &trace.graph_ops[id.value];
  const GraphOp* forward =
      op->forward_op >= 0 ? trace.graph_op(op->process, op->forward_op) : nullptr;
  const std::string& name = forward ? forward->name : op->name;
  std::size_t dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

}  // namespace

Table op_table(const Trace& trace, const Analysis& analysis, const Selection& selection) {
  auto [work, over] = work_of_ops(trace, analysis, selection);
  Table table = make_op_table(analysis, "ops", "Model ops",
                              {{"op", "Op", ColumnKind::kText},
                               {"type", "Type", ColumnKind::kText},
                               {"phase", "Phase", ColumnKind::kText}},
                              over);
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (work[i].kernels == 0) continue;
    const ModelOp& op = analysis.attribution.ops[i];
    std::vector<Cell>& row = table.rows.emplace_back(
        std::vector<Cell>{op.name, op.type, std::string(phase_label(op.phase))});
    append_figures(row, work[i], over);
  }
  sort_by(table, 3);
  return table;
}

Table op_type_table(const Trace& trace, const Analysis& analysis, const Selection& selection) {
  auto [work, over] = work_of_ops(trace, analysis, selection);
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
  Table table = make_op_table(analysis, "op-types", "Op types",
                              {{"type", "Type", ColumnKind::kText},
                               {"phase", "Phase", ColumnKind::kText},
                               {"ops", "Ops", ColumnKind::kCount}},
                              over);
  for (const auto& [key, group] : groups) {
    std::vector<Cell>& row = table.rows.emplace_back(
        std::vector<Cell>{key.first, std::string(phase_label(key.second)), group.ops});
    append_figures(row, group.work, over);
  }
  sort_by(table, 3);
  return table;
}

Table layer_table(const Trace& trace, const Analysis& analysis, const Selection& selection) {
  std::vector<StringId> module_of = modules_of_ranges(trace);
  // Layers are known by the op (one text per op of the graph) or by the module's name.
  std::map<std::string, std::uint32_t> layers{{"(no layer)", 0}};
  auto layer_named = [&](std::string name) {
    return layers.try_emplace(std::move(name), static_cast<std::uint32_t>(layers.size()))
        .first->second;
  };
  std::vector<std::uint32_t> layer_of_op(analysis.attribution.ops.size(), UINT32_MAX);
  for (std::size_t i = 0; i < layer_of_op.size(); ++i) {
    const ModelOp& op = analysis.attribution.ops[i];
    if (op.graph_op.valid()) layer_of_op[i] = layer_named(layer_of_graph_op(trace, op.graph_op));
  }
  std::vector<std::uint32_t> layer_of_name(trace.strings.size(), UINT32_MAX);
  constexpr std::size_t kPhases = 4;  // forward, backward, update, any other
  struct Layer {
    OpWork work;
    std::array<DurationNs, kPhases> of_phase{};
  };
  std::vector<Layer> work;
  Denominator over = visit_work(trace, analysis, selection, [&](DeviceOpId op) {
    std::uint32_t layer = layer_of_op[analysis.attribution.op_of[op.value].value];
    RangeId range = analysis.attribution.range_of[op.value];
    if (layer == UINT32_MAX && range.valid() && module_of[range.value].valid()) {
      StringId name = module_of[range.value];
      if (layer_of_name[name.value] == UINT32_MAX)
        layer_of_name[name.value] =
            layer_named(std::string(trace.strings[name].substr(kModule.size())));
      layer = layer_of_name[name.value];
    }
    if (layer == UINT32_MAX) layer = 0;
    if (layer >= work.size()) work.resize(layer + std::size_t{1});
    work[layer].work.add(work_of(trace.device_ops, op));
    Phase phase = analysis.attribution.phase_of[op.value];
    std::size_t column = phase == Phase::kForward    ? 0
                         : phase == Phase::kBackward ? 1
                         : phase == Phase::kUpdate   ? 2
                                                     : 3;
    work[layer].of_phase[column] += trace.device_ops.interval(op).length();
  });
  Table table{"layers", "Layers", note_of(analysis, over), {}, {}};
  table.columns = {{"layer", "Layer", ColumnKind::kText},
                   {"ns_per_step", time_label(analysis), ColumnKind::kDuration},
                   {"share", "Share", ColumnKind::kPercent},
                   {"kernels_per_step", "Kernels", ColumnKind::kNumber},
                   {"forward_ns", "Forward", ColumnKind::kDuration},
                   {"backward_ns", "Backward", ColumnKind::kDuration},
                   {"update_ns", "Update", ColumnKind::kDuration},
                   {"other_ns", "Other", ColumnKind::kDuration}};
  if (layers.size() == 1) return table;  // no layer is known: nothing to tell apart
  std::int64_t steps = std::max<std::int64_t>(1, over.steps);
  for (const auto& [name, index] : layers) {
    if (index >= work.size() || work[index].work.kernels == 0) continue;
    const Layer& layer = work[index];
    DurationNs per_step = layer.work.time / steps;
    std::vector<Cell>& row = table.rows.emplace_back(
        std::vector<Cell>{name, per_step.ns, ratio(per_step, over.step),
                          static_cast<double>(layer.work.kernels) / static_cast<double>(steps)});
    for (DurationNs time : layer.of_phase)
      row.push_back(time.ns ? Cell((time / steps).ns) : Cell());
  }
  sort_by(table, 1);
  return table;
}

}  // namespace headway::analyzer
