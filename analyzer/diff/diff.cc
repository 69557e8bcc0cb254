// SPDX-License-Identifier: MIT
#include "analyzer/diff/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "analyzer/partition/steady_ops.h"
#include "analyzer/stats/tables.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kSignificance = 0.05;
/// With fewer steps a side the rank test cannot reach significance or the bootstrap has nothing to
/// draw from.
constexpr std::size_t kMinSteps = 5;

/// Device steps where there are any (the host may run ahead), host steps otherwise.
std::vector<double> step_durations(const Analysis& analysis) {
  std::vector<double> durations;
  for (const DevicePartition& partition : analysis.partitions) {
    if (&partition != &analysis.partitions.front()) break;
    for (const DeviceStep& step : partition.steps) {
      if (!analysis.steps.all.empty() && counts(analysis.steps, step))
        durations.push_back(static_cast<double>(step.interval.length().ns));
    }
  }
  return durations.empty() ? analysis.steps.steady_durations_ns() : durations;
}

Table class_table(const Analysis& a, const Analysis& b) {
  Table table{"classes", "Time per class", "Mean steady step on the first device.", {}, {}};
  table.columns = {{"class", "Class", ColumnKind::kText},
                   {"a_ns", "A", ColumnKind::kDuration},
                   {"b_ns", "B", ColumnKind::kDuration},
                   {"change_ns", "B − A", ColumnKind::kDuration}};
  if (a.partitions.empty() || b.partitions.empty()) return table;
  const ClassTimes& times_a = a.partitions.front().per_steady_step;
  const ClassTimes& times_b = b.partitions.front().per_steady_step;
  for (const TimeClassInfo& c : time_classes()) {
    DurationNs in_a = times_a[c.time_class];
    DurationNs in_b = times_b[c.time_class];
    if (in_a.ns || in_b.ns)
      table.rows.push_back({std::string(c.label), in_a.ns, in_b.ns, (in_b - in_a).ns});
  }
  table.rows.push_back({std::string("step"), times_a.total().ns, times_b.total().ns,
                        (times_b.total() - times_a.total()).ns});
  return table;
}

struct OpCost {
  std::int64_t ns = 0;
  double kernels = 0;
};

/// Time and kernels per step by op name and phase.
std::map<std::string, OpCost> op_costs(const DiffSide& side) {
  Table table = op_table(side.trace, side.analysis);
  std::map<std::string, OpCost> costs;
  for (const auto& row : table.rows) {
    const std::string& phase = std::get<std::string>(row[2]);
    OpCost& cost = costs[std::get<std::string>(row[0]) + (phase.empty() ? "" : " · " + phase)];
    cost.ns += std::get<std::int64_t>(row[3]);
    cost.kernels += std::get<double>(row[5]);
  }
  return costs;
}

Table op_change_table(const DiffSide& a, const DiffSide& b) {
  Table table{"ops",
              "Ops that changed most",
              "Device time per steady step; an op in one run only has no time in the other.",
              {},
              {}};
  table.columns = {{"op", "Op", ColumnKind::kText},
                   {"a_ns", "A", ColumnKind::kDuration},
                   {"b_ns", "B", ColumnKind::kDuration},
                   {"change_ns", "B − A", ColumnKind::kDuration},
                   {"a_kernels", "Kernels in A", ColumnKind::kNumber},
                   {"b_kernels", "in B", ColumnKind::kNumber}};
  std::map<std::string, OpCost> in_a = op_costs(a);
  std::map<std::string, OpCost> in_b = op_costs(b);
  std::map<std::string, std::pair<const OpCost*, const OpCost*>> both;
  for (const auto& [name, cost] : in_a) both[name].first = &cost;
  for (const auto& [name, cost] : in_b) both[name].second = &cost;
  for (const auto& [name, costs] : both) {
    auto [x, y] = costs;
    table.rows.push_back({name, x ? Cell(x->ns) : Cell(), y ? Cell(y->ns) : Cell(),
                          (y ? y->ns : 0) - (x ? x->ns : 0), x ? Cell(x->kernels) : Cell(),
                          y ? Cell(y->kernels) : Cell()});
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& x, const auto& y) {
    return std::llabs(std::get<std::int64_t>(x[3])) > std::llabs(std::get<std::int64_t>(y[3]));
  });
  return table;
}

std::vector<std::string> finding_changes(const Analysis& a, const Analysis& b) {
  std::vector<std::string> changes;
  for (const Finding& before : a.findings) {
    for (const Finding& after : b.findings) {
      if (before.rule != after.rule ||
          (before.status == after.status && before.status != Status::kFound))
        continue;
      auto label = [](const Finding& f) {
        return f.status == Status::kFound ? format_percent(f.share_of_step)
                                          : std::string(status_id(f.status));
      };
      changes.push_back(fmt::format("{}: {} → {}", before.rule, label(before), label(after)));
    }
  }
  return changes;
}

void judge(Diff& d, std::size_t steps_a, std::size_t steps_b, double noise) {
  std::string figures = fmt::format(
      "median step {} → {}, {:+.1f} % (95 % interval {:+.1f} to {:+.1f} %, p = {:.2g}, {} and {} "
      "steady steps)",
      format_duration(d.step_a), format_duration(d.step_b), 100 * d.change, 100 * d.interval.low,
      100 * d.interval.high, d.p_value, steps_a, steps_b);
  if (steps_a < kMinSteps || steps_b < kMinSteps) {
    d.verdict = DiffVerdict::kInconclusive;
    d.sentence = fmt::format(
        "Inconclusive: {} and {} steady steps are too few to tell change from noise (at least {} a "
        "side).",
        steps_a, steps_b, kMinSteps);
    return;
  }
  bool excludes_zero = d.interval.low > 0 || d.interval.high < 0;
  bool significant = excludes_zero && d.p_value < kSignificance;
  if (significant && std::fabs(d.change) >= noise) {
    d.verdict = d.change < 0 ? DiffVerdict::kFaster : DiffVerdict::kSlower;
    double factor = d.change < 0 ? static_cast<double>(d.step_a.ns) /
                                       static_cast<double>(std::max<std::int64_t>(1, d.step_b.ns))
                                 : static_cast<double>(d.step_b.ns) /
                                       static_cast<double>(std::max<std::int64_t>(1, d.step_a.ns));
    d.sentence =
        fmt::format("B is {} by {:.2f}×: {}.", d.change < 0 ? "faster" : "slower", factor, figures);
  } else if (d.interval.high - d.interval.low <= 2 * std::max(noise, 0.02)) {
    d.verdict = DiffVerdict::kSame;
    d.sentence = fmt::format("No difference that matters: {}.", figures);
  } else {
    d.verdict = DiffVerdict::kInconclusive;
    d.sentence =
        fmt::format("Inconclusive: {}; changes below {:.1f} % cannot be told from noise here.",
                    figures, 100 * d.detectable);
  }
}

}  // namespace

std::string_view diff_verdict_id(DiffVerdict verdict) {
  switch (verdict) {
    case DiffVerdict::kFaster:
      return "faster";
    case DiffVerdict::kSlower:
      return "slower";
    case DiffVerdict::kSame:
      return "same";
    case DiffVerdict::kInconclusive:
      return "inconclusive";
  }
  return "inconclusive";
}

Diff diff(const DiffSide& a, const DiffSide& b, double noise) {
  Diff d;
  std::vector<double> steps_a = step_durations(a.analysis);
  std::vector<double> steps_b = step_durations(b.analysis);
  d.step_a = {static_cast<std::int64_t>(median(steps_a))};
  d.step_b = {static_cast<std::int64_t>(median(steps_b))};
  d.change =
      d.step_a.ns > 0 ? static_cast<double>(d.step_b.ns) / static_cast<double>(d.step_a.ns) - 1 : 0;
  d.interval = bootstrap_median_change(steps_a, steps_b, kConfidence);
  d.p_value = mann_whitney_p(steps_a, steps_b);
  d.detectable = (d.interval.high - d.interval.low) / 2;
  d.classes = class_table(a.analysis, b.analysis);
  d.ops = op_change_table(a, b);
  d.findings = finding_changes(a.analysis, b.analysis);
  judge(d, steps_a.size(), steps_b.size(), noise);
  return d;
}

std::string diff_text(const Diff& d, const DiffSide& a, const DiffSide& b) {
  constexpr std::size_t kOpsShown = 12;
  std::string out =
      fmt::format("Headway diff\n  A  {}\n  B  {}\n\n{}\n", escape_terminal(a.trace.path),
                  escape_terminal(b.trace.path), d.sentence);
  if (!d.classes.rows.empty())
    out += fmt::format("\n{}  ({})\n{}", d.classes.title, d.classes.note,
                       to_text(d.classes, {.indent = "  "}));
  if (!d.findings.empty()) {
    out += "\nFindings\n";
    for (const std::string& change : d.findings) out += fmt::format("  {}\n", change);
  }
  if (!d.ops.rows.empty())
    out += fmt::format("\n{}  ({})\n{}", d.ops.title, d.ops.note,
                       to_text(d.ops, {.max_rows = kOpsShown, .indent = "  "}));
  return out;
}

std::string diff_json(const Diff& d, const DiffSide& a, const DiffSide& b) {
  auto finite = [](double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json json;
  json["schema_version"] = 1;
  json["a"] = to_valid_utf8(a.trace.path);
  json["b"] = to_valid_utf8(b.trace.path);
  json["verdict"] = diff_verdict_id(d.verdict);
  json["sentence"] = d.sentence;
  json["step_a_ns"] = d.step_a.ns;
  json["step_b_ns"] = d.step_b.ns;
  json["change"] = d.change;
  json["interval_95"] = {finite(d.interval.low), finite(d.interval.high)};
  json["p_value"] = d.p_value;
  json["minimum_detectable_change"] = finite(d.detectable);
  json["classes"] = to_json(d.classes)["rows"];
  json["ops"] = to_json(d.ops)["rows"];
  json["findings"] = d.findings;
  return json.dump(2) + "\n";
}

}  // namespace headway::analyzer
