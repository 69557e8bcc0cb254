// SPDX-License-Identifier: MIT
#include "gui/models/op_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>

#include "common/format.h"
#include "gui/models/display_text.h"
#include "gui/models/vocabulary.h"

namespace headway::gui {
namespace {

constexpr auto kColumns = std::to_array<OpColumnInfo>({
    {OpColumn::kName, "Name", "Op of the model, its type, or name of the kernel or copy", false},
    {OpColumn::kType, "Type", "Kind of op, where the program says it", false},
    {OpColumn::kPhase, "Phase", "Phase of the step it runs in", false},
    {OpColumn::kTimePerStep, "Time / step", "Device time per steady step and device", true},
    {OpColumn::kShare, "Share", "Share of the time of all lines of this table", true},
    {OpColumn::kCountPerStep, "Count / step", "Device ops per steady step and device", true},
    {OpColumn::kMean, "Mean", "Mean duration of a device op", true},
    {OpColumn::kLongest, "Longest", "Longest device op; opening the line leads to it", true},
    {OpColumn::kBandwidth, "Achieved B/s", "Bytes moved over device time, where bytes are known",
     true},
    {OpColumn::kFlops, "Achieved FLOP/s", "Operations over device time, where they are known",
     true},
});

/// True for device ops that the figures are over: those that begin in a steady step of their
/// device.
class SteadyFilter {
 public:
  SteadyFilter(const trace::Trace& trace, const analyzer::Analysis& analysis) : trace_(trace) {
    steps_of_device_.resize(trace.devices.size());
    for (const analyzer::DevicePartition& partition : analysis.partitions) {
      if (!partition.device.valid()) continue;  // of a host
      for (const analyzer::DeviceStep& step : partition.steps) {
        if (step.step >= analysis.steps.all.size() || !analysis.steps.all[step.step].steady)
          continue;
        steps_of_device_[partition.device.value].push_back(step.interval);
        ++count_;
      }
    }
    for (auto& steps : steps_of_device_) {
      std::sort(steps.begin(), steps.end(),
                [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    }
  }

  std::int64_t count() const { return count_; }
  bool admits(trace::DeviceOpId op) const {
    if (count_ == 0) return true;
    trace::DeviceId device = trace_.streams[trace_.device_ops.stream[op.value].value].device;
    const auto& steps = steps_of_device_[device.value];
    TimeNs start = trace_.device_ops.start[op.value];
    auto after = std::upper_bound(steps.begin(), steps.end(), start,
                                  [](TimeNs t, const Interval& step) { return t < step.begin; });
    return after != steps.begin() && std::prev(after)->contains(start);
  }

 private:
  const trace::Trace& trace_;
  std::vector<std::vector<Interval>> steps_of_device_;
  std::int64_t count_ = 0;
};

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
          return OpLine{display_text(trace_.strings[name]),
                        std::string(label_of(trace_.device_ops.kind[op.value])), ""};
        });
      }
      case OpGrouping::kType: {
        const analyzer::ModelOp& model_op = model_op_of(op);
        std::string key = model_op.type.empty() ? "(unknown type)" : model_op.type;
        return line(by_type_, key, [&] { return OpLine{display_text(key), "", ""}; });
      }
      case OpGrouping::kOp:
        break;
    }
    return line(by_op_, index_of(op), [&] {
      const analyzer::ModelOp& model_op = model_op_of(op);
      return OpLine{display_text(model_op.name), display_text(model_op.type),
                    std::string(label_of(model_op.phase))};
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
    return table_.lines[slot->second];
  }

  const trace::Trace& trace_;
  const analyzer::Attribution& attribution_;
  OpTable& table_;
  std::unordered_map<trace::StringId, std::size_t> by_name_;
  std::unordered_map<std::string, std::size_t> by_type_;
  std::unordered_map<std::uint32_t, std::size_t> by_op_;
};

double rate(std::int64_t amount, DurationNs time) {
  return time.ns > 0 ? static_cast<double>(amount) / time.seconds() : 0;
}

double number(const OpLine& line, OpColumn column) {
  switch (column) {
    case OpColumn::kTimePerStep:
    case OpColumn::kShare:
      return static_cast<double>(line.total.ns);
    case OpColumn::kCountPerStep:
      return static_cast<double>(line.count);
    case OpColumn::kMean:
      return static_cast<double>(line.total.ns) / static_cast<double>(line.count);
    case OpColumn::kLongest:
      return static_cast<double>(line.longest_duration.ns);
    case OpColumn::kBandwidth:
      return rate(line.bytes, line.total);
    case OpColumn::kFlops:
      return rate(line.flops, line.total);
    default:
      return 0;
  }
}

const std::string& words(const OpLine& line, OpColumn column) {
  return column == OpColumn::kType    ? line.type
         : column == OpColumn::kPhase ? line.phase
                                      : line.name;
}

bool contains(const std::string& text, const std::string& lower_needle) {
  auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  return std::search(text.begin(), text.end(), lower_needle.begin(), lower_needle.end(), same) !=
         text.end();
}

}  // namespace

std::span<const OpColumnInfo> op_columns() {
  return kColumns;
}

std::string OpTable::text(const OpLine& line, OpColumn column) const {
  switch (column) {
    case OpColumn::kTimePerStep:
      return format_duration(
          {static_cast<std::int64_t>(per_step(static_cast<double>(line.total.ns)))});
    case OpColumn::kShare:
      return format_percent(ratio(line.total, total));
    case OpColumn::kCountPerStep: {
      double count = per_step(static_cast<double>(line.count));
      bool whole = count == static_cast<double>(static_cast<std::int64_t>(count));
      return whole ? format_count(static_cast<std::int64_t>(count)) : fmt::format("{:.2f}", count);
    }
    case OpColumn::kMean:
      return format_duration(line.total / line.count);
    case OpColumn::kLongest:
      return format_duration(line.longest_duration);
    case OpColumn::kBandwidth:
      return line.bytes > 0 ? si(rate(line.bytes, line.total), "B/s") : "–";
    case OpColumn::kFlops:
      return line.flops > 0 ? si(rate(line.flops, line.total), "FLOP/s") : "–";
    default:
      return words(line, column).empty() ? "–" : words(line, column);
  }
}

std::vector<std::uint32_t> OpTable::arranged(OpColumn column, bool descending,
                                             std::string_view filter) const {
  std::string needle(filter);
  std::transform(needle.begin(), needle.end(), needle.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < lines.size(); ++i) {
    const OpLine& line = lines[i];
    if (contains(line.name, needle) || contains(line.type, needle) || contains(line.phase, needle))
      order.push_back(i);
  }
  bool numeric = kColumns[static_cast<std::size_t>(column)].numeric;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (descending) std::swap(a, b);
    return numeric ? number(lines[a], column) < number(lines[b], column)
                   : words(lines[a], column) < words(lines[b], column);
  });
  return order;
}

OpTable make_op_table(const trace::Trace& trace, const analyzer::Analysis& analysis,
                      OpGrouping grouping) {
  OpTable table;
  table.grouping = grouping;
  SteadyFilter filter(trace, analysis);
  table.steps = filter.count();
  Grouper grouper(trace, analysis, table);
  for (std::size_t i = 0; i < trace.device_ops.size(); ++i) {
    if (filter.admits(trace::DeviceOpId::from(i))) grouper.add(trace::DeviceOpId::from(i));
  }
  std::stable_sort(table.lines.begin(), table.lines.end(), [](const OpLine& a, const OpLine& b) {
    return a.total != b.total ? a.total > b.total : a.name < b.name;
  });
  table.basis =
      table.steps ? fmt::format("Mean over {} steady steps of all devices; device time {} a step.",
                                table.steps,
                                format_duration({static_cast<std::int64_t>(
                                    table.per_step(static_cast<double>(table.total.ns)))}))
                  : fmt::format("Over the whole trace, as it has no steady steps; device time {}.",
                                format_duration(table.total));
  return table;
}

}  // namespace headway::gui
