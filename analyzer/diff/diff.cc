// SPDX-License-Identifier: MIT
#include "analyzer/diff/diff.h"

#include <fmt/format.h>

#include "analyzer/diff/differences.h"
#include "analyzer/diff/slow_steps.h"
#include "analyzer/diff/tables.h"
#include "analyzer/diff/verdict.h"
#include "analyzer/report/facts.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// Below this share of common work the sides are hardly the same program.
constexpr double kSameWork = 0.5;

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

std::vector<std::string> doubts_of(const Diff& d) {
  std::vector<std::string> doubts;
  for (const Difference& one : d.differences) {
    if (one.what == "device") {
      doubts.push_back(
          fmt::format("Different devices: {} in A, {} in B. The comparison includes the machines.",
                      one.a, one.b));
    } else if (one.what == "ranks") {
      doubts.push_back(fmt::format(
          "{} ranks in A, {} in B: communication and work per rank differ for this reason alone.",
          one.a, one.b));
    } else {
      doubts.push_back(
          fmt::format("Different programs: {} is {} in A and {} in B.", one.what, one.a, one.b));
    }
  }
  const std::optional<CommonWork> common = common_work(d.table("ops"));
  if (common && (common->of_a < kSameWork || common->of_b < kSameWork)) {
    doubts.push_back(
        fmt::format("The sides share little work: ops in both account for only {} of A's device "
                    "time and {} of B's. They may be different programs.",
                    format_percent(common->of_a), format_percent(common->of_b)));
  }
  if (d.steps_a == 0 || d.steps_b == 0) {
    std::string_view who = d.steps_a ? "B has" : d.steps_b ? "A has" : "Both sides have";
    doubts.push_back(
        fmt::format("{} no steady steps, so the comparison uses whole spans, which depend on the "
                    "recording length. Name the step range with --step-range.",
                    who));
  }
  return doubts;
}

std::optional<double> throughput_of(const Analysis& analysis, double step_ns) {
  if (!analysis.samples_per_step || step_ns <= 0) return std::nullopt;
  return *analysis.samples_per_step / (step_ns * 1e-9);
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
                                          : std::string(status_words(f.status));
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
  if (!steps) {
    samples_a = spans_of(a);
    samples_b = spans_of(b);
  }
  d.step = compare_cost(samples_a, samples_b);
  d.typical = compare_typical(samples_a, samples_b);
  if (steps) {
    d.slow_a = slow_steps(samples_a);
    d.slow_b = slow_steps(samples_b);
    d.samples_per_s_a = throughput_of(a.front().analysis, d.step.a);
    d.samples_per_s_b = throughput_of(b.front().analysis, d.step.b);
  }
  d.differences = differences_of(a.front(), b.front());
  d.tables = diff_tables(a, b);
  d.doubts = doubts_of(d);
  d.findings = finding_changes(a.front().analysis, b.front().analysis);
  judge(d, same_device_type(a.front(), b.front()), noise);
  return d;
}

}  // namespace headway::analyzer
