// SPDX-License-Identifier: MIT
#include "gui/models/figures/kernel_table.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "analyzer/hardware/gpus.h"
#include "analyzer/kernels/families.h"
#include "analyzer/stats/labels.h"
#include "analyzer/stats/summary.h"
#include "analyzer/stats/tables.h"
#include "common/format.h"
#include "gui/models/text/display_text.h"

namespace headway::gui {
namespace {

using analyzer::Cell;
using analyzer::ColumnKind;
using analyzer::KernelTraits;

struct ColumnText {
  const char* id;
  const char* label;
  ColumnKind kind;
  std::string_view doc;
};
constexpr auto kColumns = std::to_array<ColumnText>({
    {"kernel", "Kernel", ColumnKind::kText, "Name of the kernel, or function of its family"},
    {"family", "Does", ColumnKind::kText, "Function of the kernel, recognised by name"},
    {"math_unit", "Arithmetic", ColumnKind::kText,
     "Tensor cores or general cores, recorded or recognised by name; empty if unknown"},
    {"precision", "Inputs", ColumnKind::kText, "Number type of the inputs, recognised by name"},
    {"count", "Count", ColumnKind::kCount, "Kernels"},
    {"total_ns", "Total", ColumnKind::kDuration,
     "Total duration; overlapping kernels each count in full"},
    {"share", "Share", ColumnKind::kPercent, "Share of the time of all kernels in this table"},
    {"mean_ns", "Mean", ColumnKind::kDuration, "Mean duration"},
    {"median_ns", "Median", ColumnKind::kDuration, "Half of the kernels are shorter"},
    {"min_ns", "Least", ColumnKind::kDuration, "The shortest"},
    {"max_ns", "Longest", ColumnKind::kDuration, "The longest one; open the row to see it"},
    {"blocks", "Blocks", ColumnKind::kCount, "Thread blocks of a launch, mean"},
    {"block_threads", "Threads", ColumnKind::kCount, "Threads of a block, mean"},
    {"blocks_per_sm", "Blocks / SM", ColumnKind::kNumber,
     "Blocks per multiprocessor: below 1, some multiprocessors are idle"},
    {"bytes_per_s", "Achieved B/s", ColumnKind::kByteRate, "Bytes moved per second, if recorded"},
    {"flop_per_s", "Achieved FLOP/s", ColumnKind::kFlopRate, "Operations per second, if recorded"},
});

struct Group {
  std::string name;
  KernelTraits traits;
  trace::DeviceOpId longest;
  std::int64_t launches = 0;  ///< launches whose number of blocks is known
  double blocks = 0;
  double threads = 0;
  double blocks_per_sm = 0;
  std::int64_t bytes = 0;
  std::int64_t flops = 0;
};

/// Collects kernels of one name or family, op by op.
class Gatherer {
 public:
  Gatherer(const trace::Trace& trace, KernelGrouping grouping)
      : trace_(trace), by_name_(grouping == KernelGrouping::kName), traits_(trace) {
    for (const trace::Device& device : trace.devices)
      processors_.push_back(analyzer::limits_of(device, 0).multiprocessors);
  }

  void add(trace::DeviceOpId op) {
    const trace::DeviceOps& ops = trace_.device_ops;
    if (analyzer::is_copy_or_set(ops.kind[op.value])) return;
    std::uint32_t index = group_of(op);
    Group& group = groups_[index];
    DurationNs length = ops.interval(op).length();
    values_.add(index, length.ns);
    if (!group.longest.valid() || length > ops.interval(group.longest).length()) group.longest = op;
    group.bytes += ops.bytes[op.value];
    group.flops += ops.flops[op.value];
    if (std::uint32_t blocks = ops.blocks[op.value]) {
      ++group.launches;
      group.blocks += blocks;
      group.threads += ops.block_threads[op.value];
      std::int32_t processors =
          processors_[trace_.streams[ops.stream[op.value].value].device.value];
      if (processors > 0) group.blocks_per_sm += static_cast<double>(blocks) / processors;
    }
  }

  const std::vector<Group>& groups() const { return groups_; }
  std::vector<analyzer::DurationSummary> finish() { return values_.finish(); }

 private:
  std::uint32_t group_of(trace::DeviceOpId op) {
    KernelTraits traits = traits_.of(op);
    std::uint64_t key = static_cast<std::uint64_t>(traits.math_unit) << 48 |
                        static_cast<std::uint64_t>(traits.precision) << 40;
    if (by_name_) {
      // Only some kernels of a name may be recorded as running on tensor cores.
      key = trace_.device_ops.name[op.value].value;
    } else {
      // For memory-bound kernels the number type would only split their rows.
      if (!analyzer::is_matrix_work(traits.family)) {
        traits.precision = analyzer::Precision::kUnknown;
        key = static_cast<std::uint64_t>(traits.math_unit) << 48;
      }
      key |= static_cast<std::uint64_t>(traits.family);
    }
    std::uint32_t index = keys_.of(key);
    if (index == groups_.size()) {
      Group& group = groups_.emplace_back();
      group.traits = traits;
      group.name = by_name_ ? std::string(trace_.strings[trace_.device_ops.name[op.value]])
                            : std::string(analyzer::family_label(traits.family));
    }
    return index;
  }

  const trace::Trace& trace_;
  bool by_name_;
  analyzer::KernelNames traits_;
  std::vector<std::int32_t> processors_;  ///< by device; 0 unknown
  analyzer::KeyGroups keys_;
  std::vector<Group> groups_;
  analyzer::GroupedValues values_;
};

Cell mean_of(double sum, std::int64_t count) {
  return sum > 0 && count > 0 ? Cell(sum / static_cast<double>(count)) : Cell();
}

Cell rounded(const Cell& cell) {
  const double* number = std::get_if<double>(&cell);
  return number ? Cell(static_cast<std::int64_t>(std::llround(*number))) : Cell();
}

std::string_view unit_label(trace::MathUnit unit) {
  return unit == trace::MathUnit::kTensor    ? "tensor cores"
         : unit == trace::MathUnit::kGeneral ? "general cores"
                                             : "";
}

std::vector<Cell> row_of(const Group& group, const analyzer::DurationSummary& sum, DurationNs all,
                         bool by_name) {
  return {group.name,
          by_name ? std::string(analyzer::family_label(group.traits.family)) : std::string(),
          std::string(unit_label(group.traits.math_unit)),
          std::string(analyzer::precision_label(group.traits.precision)),
          sum.count,
          sum.total,
          ratio({sum.total}, all),
          sum.mean(),
          sum.median,
          sum.minimum,
          sum.maximum,
          rounded(mean_of(group.blocks, group.launches)),
          rounded(mean_of(group.threads, group.launches)),
          mean_of(group.blocks_per_sm, group.launches),
          analyzer::rate_cell(group.bytes, sum.total),
          analyzer::rate_cell(group.flops, sum.total)};
}

LinkedTable launches(const trace::Trace& trace, const analyzer::Analysis& analysis) {
  LinkedTable out;
  out.table = analyzer::launch_table(trace, analysis);
  out.sort_column = out.column("kernel_total_ns");
  std::vector<trace::DeviceOpId> longest(trace.strings.size());
  for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
    trace::DeviceOpId& best = longest[trace.device_ops.name[i].value];
    if (!best.valid() ||
        trace.device_ops.interval({i}).length() > trace.device_ops.interval(best).length())
      best = {i};
  }
  for (const auto& row : out.table.rows) {
    const std::string& name = std::get<std::string>(row[0]);
    std::optional<trace::StringId> id = trace.strings.find(name);
    bool known = id && longest[id->value].valid();
    out.links.push_back(known ? Target::of(analyzer::EventRef::of(longest[id->value])) : Target{});
    out.keys.push_back(name);
  }
  out.docs = {"Name of the kernel",
              "Kernels with a recorded launch call",
              "Total duration",
              "Mean duration of a kernel",
              "Half of the kernels are shorter",
              "Mean time from the end of the call to the start of the kernel",
              "Half of the kernels waited less",
              "Longest wait",
              "From the start of the call to the start of the kernel, on an empty stream",
              "Launches on an empty stream",
              "Mean duration of the call",
              "Half of the calls were shorter"};
  return out;
}

}  // namespace

LinkedTable make_kernel_table(const trace::Trace& trace, const analyzer::Analysis& analysis,
                              KernelGrouping grouping, Scope scope) {
  if (grouping == KernelGrouping::kLaunches) return launches(trace, analysis);
  Gatherer gatherer(trace, grouping);
  std::int64_t steps =
      visit_ops(trace, analysis, scope, [&](trace::DeviceOpId op) { gatherer.add(op); });
  std::vector<analyzer::DurationSummary> sums = gatherer.finish();
  DurationNs all;
  for (const analyzer::DurationSummary& sum : sums) all += DurationNs{sum.total};
  LinkedTable out;
  bool by_name = grouping == KernelGrouping::kName;
  out.table.id = by_name ? "kernels" : "kernel-families";
  out.table.title = by_name ? "Kernels" : "Kernel families";
  out.table.note =
      steps ? fmt::format("Over {} steady steps of all devices; kernel time {} per step.",
                          format_count(steps), format_duration(all / steps))
            : fmt::format("Over the whole trace; kernel time {}.", format_duration(all));
  for (const ColumnText& column : kColumns) {
    out.table.columns.push_back({column.id, column.label, column.kind});
    out.docs.push_back(column.doc);
  }
  for (std::size_t g = 0; g < gatherer.groups().size(); ++g) {
    const Group& group = gatherer.groups()[g];
    out.table.rows.push_back(row_of(group, sums[g], all, by_name));
    out.links.push_back(Target::of(analyzer::EventRef::of(group.longest)));
    out.keys.push_back(group.name);
  }
  out.bar_column = out.column("share");
  out.sort_column = out.column("total_ns");
  out.drop_unknown_columns();
  return out;
}

}  // namespace headway::gui
