// SPDX-License-Identifier: MIT
#include "analyzer/analysis.h"
#include "analyzer/partition/steady_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/doubts.h"
#include "analyzer/kernels/families.h"
#include "analyzer/rules/rule.h"
#include "common/error.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

using trace::Trace;

constexpr std::string_view kReferenceTrainer = "headway-train";

void require_events(const Trace& trace) {
  if (trace.event_count() > 0) return;
  std::string counters = trace.counters.empty()
                             ? ""
                             : " It does hold counters and processes: `headway stats` shows them.";
  fail_input(
      "{}: holds no events: no range, no API call, no device op was recorded, so there is nothing "
      "to judge.{} Did the program use NVTX or CUDA, "
      "and did it run to its first step? See `headway record --help`.",
      trace.path, counters);
}

/// The step time that shares refer to: on the device where there is one, because the host may run
/// ahead.
DurationNs median_step_of(const Steps& steps, const std::vector<DevicePartition>& partitions) {
  DurationNs slowest;
  for (const DevicePartition& partition : partitions) {
    std::vector<double> durations;
    for (const DeviceStep& step : partition.steps) {
      if (counts(steps, step)) durations.push_back(static_cast<double>(step.interval.length().ns));
    }
    slowest = std::max(slowest, DurationNs{static_cast<std::int64_t>(median(durations))});
  }
  if (slowest.ns > 0) return slowest;
  return {static_cast<std::int64_t>(percentile_sorted(steps.steady_durations_ns(), 0.5))};
}

DurationNs mean_step_of(const std::vector<DevicePartition>& partitions, DurationNs fallback) {
  DurationNs slowest;
  for (const DevicePartition& partition : partitions)
    slowest = std::max(slowest, partition.per_steady_step.total());
  return slowest.ns > 0 ? slowest : fallback;
}

/// The reference trainer's switches mean nothing to users of other programs.
void keep_fitting_advice(const Trace& trace, std::vector<Finding>& findings) {
  if (trace.setting("trainer") == kReferenceTrainer) return;
  for (Finding& finding : findings) {
    std::erase_if(finding.advice,
                  [](const Advice& advice) { return advice.framework == kReferenceTrainer; });
  }
}

int rank(Status status) {
  switch (status) {
    case Status::kFound:
      return 0;
    case Status::kCannotTell:
      return 1;
    case Status::kFine:
      return 2;
  }
  return 2;
}

}  // namespace

Analysis analyze(const Trace& trace, const AnalysisOptions& options) {
  require_events(trace);
  Analysis result;
  result.steps = find_steps(trace, options.steps);
  if (result.steps.source == StepSource::kNone && !options.steps.range.empty()) {
    fail_usage("--step-range '{}': {}. `headway stats {} ranges` lists the names.",
               options.steps.range, result.steps.how, trace.path);
  }
  result.attribution = attribute(trace);
  result.device_views = device_views(trace);
  result.partitions = partition(trace, result.steps, result.attribution);
  result.median_step = median_step_of(result.steps, result.partitions);
  KernelNames kernels(trace);
  RuleContext context{trace,
                      result.steps,
                      result.attribution,
                      result.partitions,
                      mean_step_of(result.partitions, result.median_step),
                      kernels};
  for (const Rule* rule : all_rules()) result.findings.push_back(rule->check(*rule, context));
  keep_fitting_advice(trace, result.findings);
  std::stable_sort(result.findings.begin(), result.findings.end(),
                   [](const Finding& a, const Finding& b) {
                     if (a.status != b.status) return rank(a.status) < rank(b.status);
                     return a.recoverable_per_step > b.recoverable_per_step;
                   });
  result.doubts = find_doubts(trace, result);
  return result;
}

}  // namespace headway::analyzer
