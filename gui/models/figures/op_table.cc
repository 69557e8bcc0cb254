// SPDX-License-Identifier: MIT
#include "gui/models/figures/op_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "analyzer/stats/labels.h"
#include "common/format.h"
#include "gui/models/tables/scope.h"
#include "gui/models/text/display_text.h"
#include "gui/models/text/vocabulary.h"

namespace headway::gui {
namespace {

class Grouper {
 public:
  Grouper(const trace::Trace& trace, const analyzer::Analysis& analysis, OpTable& table)
      : trace_(trace), attribution_(analysis.attribution), table_(table) {}

  void add(trace::DeviceOpId op) {
    OpLine& line = line_of(op);
    const trace::DeviceOps& ops = trace_.device_ops;
    DurationNs duration = ops.interval(op).length();
    ++line.count;
    line.total += duration;
    line.bytes += ops.bytes[op.value];
    line.flops += ops.flops[op.value];
    table_.total += duration;
    if (!line.longest.valid() || duration > line.longest_duration) {
      line.longest = op;
      line.longest_duration = duration;
    }
  }

 private:
  OpLine& line_of(trace::DeviceOpId op) {
    switch (table_.grouping) {
      case OpGrouping::kKernel: {
        trace::StringId name = trace_.device_ops.name[op.value];
        return line(by_name_, name, [&] {
          return OpLine{.name = display_text(trace_.strings[name]),
                        .type = std::string(label_of(trace_.device_ops.kind[op.value])),
                        .phase = {}};
        });
      }
      case OpGrouping::kType: {
        const analyzer::ModelOp& model_op = model_op_of(op);
        std::string key = model_op.type.empty() ? "(unknown type)" : model_op.type;
        return line(by_type_, key,
                    [&] { return OpLine{.name = display_text(key), .type = {}, .phase = {}}; });
      }
      case OpGrouping::kOp:
        break;
    }
    return line(by_op_, index_of(op), [&] {
      const analyzer::ModelOp& model_op = model_op_of(op);
      return OpLine{.name = display_text(model_op.name),
                    .type = display_text(model_op.type),
                    .phase = std::string(label_of(model_op.phase)),
                    .module = display_text(model_op.module)};
    });
  }

  std::uint32_t index_of(trace::DeviceOpId op) const {
    return op.value < attribution_.op_of.size() ? attribution_.op_of[op.value].value : 0;
  }
  const analyzer::ModelOp& model_op_of(trace::DeviceOpId op) const {
    static const analyzer::ModelOp kNone{"(unattributed)", "", trace::Phase::kNone, {}, {}};
    std::uint32_t index = index_of(op);
    return index < attribution_.ops.size() ? attribution_.ops[index] : kNone;
  }

  template <class Key, class Make>
  OpLine& line(std::unordered_map<Key, std::size_t>& index, const Key& key, Make make) {
    auto [slot, is_new] = index.try_emplace(key, table_.lines.size());
    if (is_new) table_.lines.push_back(make());
    if constexpr (std::is_same_v<Key, std::uint32_t>)
      table_.lines[slot->second].key = std::to_string(key);
    else
      table_.lines[slot->second].key = table_.lines[slot->second].name;
    return table_.lines[slot->second];
  }

  const trace::Trace& trace_;
  const analyzer::Attribution& attribution_;
  OpTable& table_;
  std::unordered_map<trace::StringId, std::size_t> by_name_;
  std::unordered_map<std::string, std::size_t> by_type_;
  std::unordered_map<std::uint32_t, std::size_t> by_op_;
};

}  // namespace

OpTable make_op_table(const trace::Trace& trace, const analyzer::Analysis& analysis,
                      OpGrouping grouping) {
  OpTable table;
  table.grouping = grouping;
  Grouper grouper(trace, analysis, table);
  table.steps =
      visit_ops(trace, analysis, Scope::kSteady, [&](trace::DeviceOpId op) { grouper.add(op); });
  std::stable_sort(table.lines.begin(), table.lines.end(), [](const OpLine& a, const OpLine& b) {
    return a.total != b.total ? a.total > b.total : a.name < b.name;
  });
  table.basis =
      table.steps
          ? fmt::format("Mean over {} steady steps of all devices; device time {} per step.",
                        table.steps, format_duration(table.total / table.steps))
          : fmt::format("Over the whole trace, as it has no steady steps; device time {}.",
                        format_duration(table.total));
  return table;
}

std::string op_key(const trace::Trace& trace, const analyzer::Analysis& analysis,
                   OpGrouping grouping, trace::DeviceOpId op) {
  const analyzer::Attribution& attribution = analysis.attribution;
  std::uint32_t index = op.value < attribution.op_of.size() ? attribution.op_of[op.value].value : 0;
  switch (grouping) {
    case OpGrouping::kKernel:
      return display_text(trace.strings[trace.device_ops.name[op.value]]);
    case OpGrouping::kType:
      return index < attribution.ops.size() ? display_text(attribution.ops[index].type) : "";
    case OpGrouping::kOp:
      break;
  }
  return std::to_string(index);
}

LinkedTable linked_table(const OpTable& table) {
  using analyzer::Cell;
  using analyzer::ColumnKind;
  LinkedTable out;
  const bool steps = table.steps > 0;
  static constexpr std::array kIds = {"ops", "op-types", "op-kernels"};
  out.table.id = kIds[static_cast<std::size_t>(table.grouping)];
  out.table.title = "Device time by op";
  out.table.note = table.basis;
  auto column = [&](const char* id, const char* label, ColumnKind kind, std::string_view doc) {
    out.table.columns.push_back({id, label, kind});
    out.docs.push_back(doc);
  };
  column("name", "Name", ColumnKind::kText, "Model op, op type, or name of the kernel or copy");
  column("type", "Type", ColumnKind::kText, "Kind of op, if recorded");
  column("module", "Module", ColumnKind::kText, "Part of the model");
  column("phase", "Phase", ColumnKind::kText, "Phase of the step");
  // Without steps, the same columns cover the whole trace.
  column(steps ? "ns_per_step" : "total_ns", steps ? "Time / step" : "Time", ColumnKind::kDuration,
         "Device time, per steady step and device if the trace has steps");
  column("share", "Share", ColumnKind::kPercent, "Share of the table's total time");
  column(steps ? "count_per_step" : "count", steps ? "Count / step" : "Count", ColumnKind::kNumber,
         "Device ops, per steady step and device if the trace has steps");
  column("mean_ns", "Mean", ColumnKind::kDuration, "Mean duration of a device op");
  column("max_ns", "Longest", ColumnKind::kDuration, "Longest device op; open the line to see it");
  column("bytes_per_s", "Achieved B/s", ColumnKind::kByteRate,
         "Bytes moved per device time, if known");
  column("flop_per_s", "Achieved FLOP/s", ColumnKind::kFlopRate,
         "Operations per device time, if known");
  std::int64_t over = std::max<std::int64_t>(1, table.steps);
  for (const OpLine& line : table.lines) {
    out.table.rows.push_back({line.name, line.type, line.module, line.phase, line.total.ns / over,
                              ratio(line.total, table.total),
                              static_cast<double>(line.count) / static_cast<double>(over),
                              line.total.ns / line.count, line.longest_duration.ns,
                              analyzer::rate_cell(line.bytes, line.total.ns),
                              analyzer::rate_cell(line.flops, line.total.ns)});
    out.links.push_back(Target::of(analyzer::EventRef::of(line.longest)));
    out.keys.push_back(line.key);
  }
  out.bar_column = out.column("share");
  out.sort_column = 4;
  out.drop_unknown_columns();
  return out;
}

}  // namespace headway::gui
