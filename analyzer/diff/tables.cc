// SPDX-License-Identifier: MIT
#include "analyzer/diff/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <unordered_map>

#include "analyzer/kernels/families.h"
#include "analyzer/partition/steady_ops.h"

namespace headway::analyzer {
namespace {

/// What one thing (an op, a kernel) costs a step.
struct Cost {
  std::string name;
  double ns = 0;     ///< per step
  double count = 0;  ///< device ops per step
};

/// Costs in the order of first occurrence, found again by name.
class CostList {
 public:
  void add(const std::string& name, double ns, double count) {
    auto [slot, is_new] = index_.try_emplace(name, costs.size());
    if (is_new) costs.push_back({name, 0, 0});
    costs[slot->second].ns += ns;
    costs[slot->second].count += count;
  }
  std::vector<Cost> costs;

 private:
  std::unordered_map<std::string, std::size_t> index_;
};

struct Costs {
  CostList ops;
  CostList kernels;
  CostList families;
};

std::string copy_label(trace::DeviceOpKind kind) {
  return kind == trace::DeviceOpKind::kMemset ? "memory sets" : "copies";
}

/// Per steady step of the first device; the mean over the runs.
Costs costs_of(DiffSide side) {
  Costs result;
  for (const DiffRun& run : side) {
    if (run.analysis.partitions.empty()) continue;
    const trace::Trace& trace = run.trace;
    const Attribution& attribution = run.analysis.attribution;
    struct Sum {
      std::int64_t ns = 0;
      std::int64_t count = 0;
      std::size_t place = SIZE_MAX;  ///< order of first occurrence
      void add(DurationNs time, std::size_t at) {
        ns += time.ns;
        ++count;
        place = std::min(place, at);
      }
    };
    std::vector<Sum> by_op(attribution.ops.size());
    std::vector<Sum> by_name(trace.strings.size());
    std::map<std::string, Sum> by_family;
    KernelNames kernels(trace);
    std::size_t place = 0;
    std::int64_t steps = for_each_steady_op(
        trace, run.analysis.steps, run.analysis.partitions.front(),
        [&](const DeviceStep&, trace::DeviceOpId op) {
          DurationNs time = trace.device_ops.interval(op).length();
          by_op[attribution.op_of[op.value].value].add(time, ++place);
          by_name[trace.device_ops.name[op.value].value].add(time, place);
          trace::DeviceOpKind kind = trace.device_ops.kind[op.value];
          bool kernel =
              kind == trace::DeviceOpKind::kKernel || kind == trace::DeviceOpKind::kCommunication;
          by_family[kernel ? std::string(family_label(kernels.of(op).family)) : copy_label(kind)]
              .add(time, place);
        });
    double share = 1.0 / static_cast<double>(std::max<std::int64_t>(1, steps)) /
                   static_cast<double>(side.size());
    auto put = [&](CostList& list, const std::string& name, const Sum& sum) {
      list.add(name, static_cast<double>(sum.ns) * share, static_cast<double>(sum.count) * share);
    };
    auto in_order = [](const std::vector<Sum>& sums) {
      std::vector<std::size_t> order;
      for (std::size_t i = 0; i < sums.size(); ++i) {
        if (sums[i].count) order.push_back(i);
      }
      std::sort(order.begin(), order.end(),
                [&](std::size_t x, std::size_t y) { return sums[x].place < sums[y].place; });
      return order;
    };
    for (std::size_t i : in_order(by_op)) put(result.ops, attribution.ops[i].name, by_op[i]);
    for (std::size_t i : in_order(by_name))
      put(result.kernels, std::string(trace.strings[trace::StringId::from(i)]), by_name[i]);
    for (const auto& [name, sum] : by_family) put(result.families, name, sum);
  }
  return result;
}

std::int64_t whole(double value) {
  return static_cast<std::int64_t>(value < 0 ? value - 0.5 : value + 0.5);
}

Cell mean_of(const Cost& cost) {
  return cost.count > 0 ? Cell(whole(cost.ns / cost.count)) : Cell();
}

void sort_by_change(Table& table, std::size_t column) {
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const auto& x, const auto& y) {
    return std::llabs(std::get<std::int64_t>(x[column])) >
           std::llabs(std::get<std::int64_t>(y[column]));
  });
}

constexpr std::size_t kChange = 3;  ///< the column of what is added or saved
constexpr std::size_t kState = 8;   ///< of a table of costs only

bool is_changed(const std::vector<Cell>& row) {
  return std::get<std::int64_t>(row[kChange]) != 0 || !std::get<std::string>(row[kState]).empty();
}

/// One row a thing, with its state: "added", "removed", "was NAME" or "".
Table cost_table(Table table, std::string_view what, const CostList& a, const CostList& b) {
  table.columns = {{"name", std::string(what), ColumnKind::kText},
                   {"a_ns", "A", ColumnKind::kDuration},
                   {"b_ns", "B", ColumnKind::kDuration},
                   {"change_ns", "B − A", ColumnKind::kDuration},
                   {"a_count", "per step in A", ColumnKind::kNumber},
                   {"b_count", "in B", ColumnKind::kNumber},
                   {"a_mean_ns", "each in A", ColumnKind::kDuration},
                   {"b_mean_ns", "in B", ColumnKind::kDuration},
                   {"state", "", ColumnKind::kText}};
  auto names = [](const CostList& list) {
    std::vector<std::string> all;
    for (const Cost& cost : list.costs) all.push_back(cost.name);
    return all;
  };
  std::vector<std::size_t> partner = match_names(names(a), names(b));
  std::vector<bool> used(a.costs.size());
  for (std::size_t i = 0; i < b.costs.size(); ++i) {
    const Cost& y = b.costs[i];
    if (partner[i] == SIZE_MAX) {
      table.rows.push_back({y.name, Cell(), whole(y.ns), whole(y.ns), Cell(), y.count, Cell(),
                            mean_of(y), std::string("added")});
      continue;
    }
    const Cost& x = a.costs[partner[i]];
    used[partner[i]] = true;
    std::string state = x.name == y.name ? "" : fmt::format("was {}", x.name);
    table.rows.push_back({y.name, whole(x.ns), whole(y.ns), whole(y.ns) - whole(x.ns), x.count,
                          y.count, mean_of(x), mean_of(y), std::move(state)});
  }
  for (std::size_t i = 0; i < a.costs.size(); ++i) {
    const Cost& x = a.costs[i];
    if (used[i]) continue;
    table.rows.push_back({x.name, whole(x.ns), Cell(), -whole(x.ns), x.count, Cell(), mean_of(x),
                          Cell(), std::string("removed")});
  }
  sort_by_change(table, kChange);
  std::stable_partition(table.rows.begin(), table.rows.end(), is_changed);
  return table;
}

Table class_table(DiffSide a, DiffSide b) {
  Table table{"classes", "Time per class", "step cost on the first device", {}, {}};
  table.columns = {{"class", "Class", ColumnKind::kText},
                   {"a_ns", "A", ColumnKind::kDuration},
                   {"b_ns", "B", ColumnKind::kDuration},
                   {"change_ns", "B − A", ColumnKind::kDuration}};
  auto mean = [](DiffSide side) {
    ClassTimes sum;
    std::int64_t runs = 0;
    for (const DiffRun& run : side) {
      if (run.analysis.partitions.empty()) continue;
      sum += run.analysis.partitions.front().per_steady_step;
      ++runs;
    }
    return mean_of(sum, runs);
  };
  ClassTimes times_a = mean(a);
  ClassTimes times_b = mean(b);
  if (times_a.total().ns == 0 || times_b.total().ns == 0) return table;
  auto add = [&](std::string_view label, DurationNs x, DurationNs y) {
    table.rows.push_back({std::string(label), x.ns, y.ns, (y - x).ns});
  };
  for (const TimeClassInfo& c : time_classes()) {
    DurationNs x = times_a[c.time_class];
    DurationNs y = times_b[c.time_class];
    if (x.ns || y.ns) add(c.label, x, y);
  }
  bool steps = !a.front().analysis.steps.all.empty() && !b.front().analysis.steps.all.empty();
  if (!steps) table.note = "whole span of the first device, no steps";
  add(steps ? "step" : "span", times_a.total(), times_b.total());
  return table;
}

/// The device's whole span, which needs no steps.
Table device_view_table(const DiffRun& a, const DiffRun& b) {
  Table table{"device_view",
              "Whole-span device view",
              "first run of each side, first device; ignores steps",
              {},
              {}};
  table.columns = {
      {"what", "What", ColumnKind::kText},       {"a_ns", "A", ColumnKind::kDuration},
      {"b_ns", "B", ColumnKind::kDuration},      {"change_ns", "B − A", ColumnKind::kDuration},
      {"a_share", "of A", ColumnKind::kPercent}, {"b_share", "of B", ColumnKind::kPercent}};
  if (a.analysis.device_views.empty() || b.analysis.device_views.empty()) return table;
  const DeviceView& x = a.analysis.device_views.front();
  const DeviceView& y = b.analysis.device_views.front();
  auto add = [&](std::string_view label, DurationNs in_a, DurationNs in_b) {
    table.rows.push_back({std::string(label), in_a.ns, in_b.ns, (in_b - in_a).ns,
                          ratio(in_a, x.span), ratio(in_b, y.span)});
  };
  add("compute", x.compute, y.compute);
  add("exposed communication", x.exposed_comm, y.exposed_comm);
  add("exposed copies", x.exposed_copy, y.exposed_copy);
  add("idle", x.idle, y.idle);
  add("span", x.span, y.span);
  return table;
}

/// Steps with the same number side by side: shows where one run stalls and the other does not.
Table step_pairs(const DiffRun& a, const DiffRun& b) {
  Table table{"steps", "Same step in both runs", "first run of each side", {}, {}};
  table.columns = {{"step", "Step", ColumnKind::kCount},
                   {"a_ns", "A", ColumnKind::kDuration},
                   {"b_ns", "B", ColumnKind::kDuration},
                   {"change_ns", "B − A", ColumnKind::kDuration}};
  auto by_number = [](const Analysis& analysis) {
    std::map<std::int64_t, DurationNs> lengths;
    for (std::uint32_t i : analysis.steps.steady) {
      const Step& step = analysis.steps.all[i];
      lengths.try_emplace(step.number, step.cycle().length());
    }
    // On the device a step is as long as in the step cost.
    const DevicePartition* device = slowest_partition(analysis);
    if (!device || analysis.steps.all.empty()) return lengths;
    for (const DeviceStep& step : device->steps) {
      auto steady = lengths.find(analysis.steps.all[step.step].number);
      if (steady != lengths.end()) steady->second = step.interval.length();
    }
    return lengths;
  };
  const std::map<std::int64_t, DurationNs> in_b = by_number(b.analysis);
  if (!a.analysis.steps.all.empty() && !b.analysis.steps.all.empty()) {
    for (const auto& [number, before] : by_number(a.analysis)) {
      const auto after = in_b.find(number);
      if (after != in_b.end())
        table.rows.push_back({number, before.ns, after->second.ns, (after->second - before).ns});
    }
  }
  sort_by_change(table, kChange);
  return table;
}

std::string without_numbers(std::string_view name) {
  std::string out;
  bool digits = false;
  for (char c : name) {
    bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) out += c;
    if (digit && !digits) out += '#';
    digits = digit;
  }
  // A suffix that one side lacks: "relu" and "relu_1".
  if (out.ends_with("_#") || out.ends_with(".#")) out.resize(out.size() - 2);
  return out;
}

}  // namespace

const DevicePartition* slowest_partition(const Analysis& analysis) {
  const DevicePartition* slowest = nullptr;
  for (const DevicePartition& partition : analysis.partitions) {
    if (partition.steady_steps == 0) continue;
    if (!slowest || partition.step_cost() > slowest->step_cost()) slowest = &partition;
  }
  return slowest;
}

std::vector<double> step_durations(const Analysis& analysis) {
  std::vector<double> durations;
  if (analysis.steps.all.empty()) return durations;
  if (const DevicePartition* partition = slowest_partition(analysis)) {
    for (const DeviceStep& step : partition->steps) {
      if (counts(analysis.steps, step))
        durations.push_back(static_cast<double>(step.interval.length().ns));
    }
    return durations;
  }
  for (std::uint32_t index : analysis.steps.steady)
    durations.push_back(static_cast<double>(analysis.steps.all[index].cycle().length().ns));
  return durations;
}

Table changed_rows(Table table) {
  if (table.columns.size() <= kState || table.rows.empty()) return table;
  const auto unchanged = std::ranges::find_if_not(table.rows, is_changed);
  const auto left = static_cast<std::size_t>(unchanged - table.rows.begin());
  const std::size_t out = table.rows.size() - left;
  if (out == 0) return table;
  table.note += left == 0 ? fmt::format("; none of {} changed", out)
                          : fmt::format("; {} more unchanged", out);
  table.rows.resize(left);
  return table;
}

std::vector<std::size_t> match_names(const std::vector<std::string>& a,
                                     const std::vector<std::string>& b) {
  std::vector<std::size_t> partner(b.size(), SIZE_MAX);
  std::vector<bool> used(a.size());
  std::unordered_map<std::string_view, std::size_t> exact;
  for (std::size_t i = 0; i < a.size(); ++i) exact.try_emplace(a[i], i);
  for (std::size_t i = 0; i < b.size(); ++i) {
    auto found = exact.find(b[i]);
    if (found == exact.end() || used[found->second]) continue;
    partner[i] = found->second;
    used[found->second] = true;
  }
  std::unordered_map<std::string, std::vector<std::size_t>> left;
  for (std::size_t i = a.size(); i-- > 0;) {
    if (!used[i]) left[without_numbers(a[i])].push_back(i);
  }
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (partner[i] != SIZE_MAX) continue;
    auto found = left.find(without_numbers(b[i]));
    if (found == left.end() || found->second.empty()) continue;
    partner[i] = found->second.back();
    found->second.pop_back();
  }
  return partner;
}

std::vector<Table> diff_tables(DiffSide a, DiffSide b) {
  Costs in_a = costs_of(a);
  Costs in_b = costs_of(b);
  bool steps = !a.front().analysis.steps.all.empty() && !b.front().analysis.steps.all.empty();
  std::string note = !steps ? "over the whole span of the first device, no steps"
                     : a.size() > 1 || b.size() > 1
                         ? "per steady step of the first device, mean of the runs"
                         : "per steady step of the first device";
  std::vector<Table> tables = {
      class_table(a, b),
      device_view_table(a.front(), b.front()),
      cost_table({"families", "Kinds of device work", note, {}, {}}, "Kind", in_a.families,
                 in_b.families),
      cost_table({"ops", "Ops that changed most", note, {}, {}}, "Op", in_a.ops, in_b.ops),
      cost_table({"kernels", "Kernels and copies that changed most", note, {}, {}}, "Name",
                 in_a.kernels, in_b.kernels),
      step_pairs(a.front(), b.front())};
  std::erase_if(tables, [](const Table& table) { return table.rows.empty(); });
  return tables;
}

}  // namespace headway::analyzer
