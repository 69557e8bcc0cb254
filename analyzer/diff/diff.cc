// SPDX-License-Identifier: MIT
#include "analyzer/diff/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/diff/tables.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

constexpr double kSignificance = 0.05;
/// With fewer steps a side even samples that do not overlap at all are no evidence: the rank test
/// cannot go below 0.05.
constexpr std::size_t kMinSteps = 4;
/// "No difference that matters" needs an interval that leaves no room for one of this size.
constexpr double kMatters = 0.02;

RunSamples samples_of(DiffSide side) {
  RunSamples samples;
  for (const DiffRun& run : side) {
    std::vector<double> durations = step_durations(run.analysis);
    if (!durations.empty()) samples.push_back(std::move(durations));
  }
  return samples;
}

/// Spans instead of steps: one value a run.
RunSamples spans_of(DiffSide side) {
  RunSamples samples;
  for (const DiffRun& run : side) {
    DurationNs span = run.analysis.device_views.empty() ? run.trace.end - TimeNs{0}
                                                        : run.analysis.device_views.front().span;
    samples.push_back({static_cast<double>(span.ns)});
  }
  return samples;
}

std::size_t count(const RunSamples& samples) {
  std::size_t sum = 0;
  for (const std::vector<double>& run : samples) sum += run.size();
  return sum;
}

const trace::Device* device_of(const DiffRun& run) {
  if (!run.analysis.partitions.empty())
    return &run.trace.devices[run.analysis.partitions.front().device.value];
  return run.trace.devices.empty() ? nullptr : &run.trace.devices.front();
}

std::string device_name(const trace::Device* device) {
  if (!device) return "no device";
  return device->name.empty() ? fmt::format("device {}", device->ordinal) : device->name;
}

bool same_type(DiffSide a, DiffSide b) {
  const trace::Device* x = device_of(a.front());
  const trace::Device* y = device_of(b.front());
  return (x == nullptr) == (y == nullptr) && (!x || x->type == y->type);
}

std::vector<std::string> doubts_of(DiffSide a, DiffSide b, const Diff& d) {
  std::vector<std::string> doubts;
  std::string x = device_name(device_of(a.front()));
  std::string y = device_name(device_of(b.front()));
  if (x != y) {
    doubts.push_back(fmt::format(
        "Other devices: {} in A, {} in B. What follows compares machines as well as programs.", x,
        y));
  }
  std::int32_t ranks_a = a.front().trace.world_size;
  std::int32_t ranks_b = b.front().trace.world_size;
  if (ranks_a != ranks_b) {
    doubts.push_back(fmt::format(
        "{} ranks in A, {} in B: communication and the work of each rank differ by that alone.",
        ranks_a, ranks_b));
  }
  if (d.steps_a == 0 || d.steps_b == 0) {
    std::string_view who = d.steps_a ? "B has" : d.steps_b ? "A has" : "Both sides have";
    doubts.push_back(fmt::format(
        "{} no steady steps, so whole spans are compared: they depend on how long was recorded. "
        "--step-range names the range that is a step.",
        who));
  }
  return doubts;
}

std::string figures_of(const Diff& d) {
  const Comparison& c = d.step;
  auto time = [](double ns) { return format_duration({static_cast<std::int64_t>(ns)}); };
  std::string test = c.between_runs ? std::string("variance between runs included")
                                    : fmt::format("p = {:.2g}", c.p_value);
  return fmt::format(
      "median step {} → {}, {:+.1f} % (95 % interval {:+.1f} to {:+.1f} %, {}, effect size "
      "{:+.2f}, "
      "{} and {} steady steps)",
      time(c.a), time(c.b), 100 * c.change, 100 * c.interval.low, 100 * c.interval.high, test,
      c.cliffs_delta, d.steps_a, d.steps_b);
}

void judge(Diff& d, bool comparable, double noise) {
  d.verdict = DiffVerdict::kInconclusive;
  const Comparison& c = d.step;
  if (d.steps_a == 0 || d.steps_b == 0) {
    d.sentence = fmt::format("Inconclusive: no steps to compare. The spans are {} and {}.",
                             format_duration({static_cast<std::int64_t>(c.a)}),
                             format_duration({static_cast<std::int64_t>(c.b)}));
    return;
  }
  if (!comparable) {
    d.sentence = fmt::format("Inconclusive: the sides ran on different kinds of devices; {}.",
                             figures_of(d));
    return;
  }
  if (d.steps_a < kMinSteps || d.steps_b < kMinSteps) {
    d.sentence = fmt::format(
        "Inconclusive: {} and {} steady steps are too few to tell change from noise (at least {} a "
        "side).",
        d.steps_a, d.steps_b, kMinSteps);
    return;
  }
  bool excludes_zero = c.interval.low > 0 || c.interval.high < 0;
  bool significant = excludes_zero && (c.between_runs || c.p_value < kSignificance);
  std::string found =
      fmt::format("a change of {:.1f} % would be found", 100 * c.minimum_detectable);
  if (significant && std::fabs(c.change) >= noise) {
    d.verdict = c.change < 0 ? DiffVerdict::kFaster : DiffVerdict::kSlower;
    double factor = c.change < 0 ? c.a / std::max(1.0, c.b) : c.b / std::max(1.0, c.a);
    d.sentence = fmt::format("B is {} by {:.2f}×: {}.", c.change < 0 ? "faster" : "slower", factor,
                             figures_of(d));
  } else if (c.interval.high - c.interval.low <= 2 * std::max(noise, kMatters)) {
    d.verdict = DiffVerdict::kSame;
    d.sentence = fmt::format("No difference that matters: {}; {}.", figures_of(d), found);
  } else {
    d.sentence = fmt::format("Inconclusive: {}; only {} here.", figures_of(d), found);
  }
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

const Table* Diff::table(std::string_view id) const {
  for (const Table& table : tables) {
    if (table.id == id) return &table;
  }
  return nullptr;
}

Diff diff(DiffSide a, DiffSide b, double noise) {
  Diff d;
  RunSamples samples_a = samples_of(a);
  RunSamples samples_b = samples_of(b);
  d.steps_a = count(samples_a);
  d.steps_b = count(samples_b);
  bool steps = d.steps_a > 0 && d.steps_b > 0;
  d.step = steps ? compare(samples_a, samples_b) : compare(spans_of(a), spans_of(b));
  d.doubts = doubts_of(a, b, d);
  d.tables = diff_tables(a, b);
  d.findings = finding_changes(a.front().analysis, b.front().analysis);
  judge(d, same_type(a, b), noise);
  return d;
}

}  // namespace headway::analyzer
