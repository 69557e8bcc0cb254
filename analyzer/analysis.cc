// SPDX-License-Identifier: MIT
#include "analyzer/analysis.h"
#include "analyzer/partition/steady_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <future>
#include <mutex>
#include <optional>

#include "analyzer/doubts.h"
#include "analyzer/evidence/recording.h"
#include "analyzer/graph/graph.h"
#include "analyzer/graph/path_walk.h"
#include "analyzer/kernels/communication.h"
#include "analyzer/kernels/families.h"
#include "analyzer/ranks/refine.h"
#include "analyzer/rules/registry.h"
#include "analyzer/samples.h"
#include "common/error.h"
#include "common/parallel.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

using trace::Trace;

void require_events(const Trace& trace) {
  if (trace.event_count() > 0) return;
  std::string counters =
      trace.counters.empty() ? "" : " It does hold counters and processes: see `headway stats`.";
  fail_input(
      "{}: no events (no range, API call or device op), so there is nothing to judge.{} Did the "
      "program use NVTX or CUDA, and reach its first step? Headway also reads the .xplane.pb files "
      "that the profilers of JAX and TensorFlow write. See `headway record --help`.",
      trace.path, counters);
}

/// The device with the highest step cost, because the host may run ahead; a training thread where
/// there is no device. Null without steady steps.
const DevicePartition* slowest_of(const std::vector<DevicePartition>& partitions) {
  const DevicePartition* slowest = nullptr;
  for (const DevicePartition& partition : partitions) {
    if (partition.steady_steps == 0) continue;
    if (!slowest || partition.step_cost() > slowest->step_cost()) slowest = &partition;
  }
  return slowest;
}

StepTimes step_times_of(const Steps& steps, const DevicePartition* slowest) {
  auto at = [](const std::vector<double>& sorted, double p) {
    return DurationNs{static_cast<std::int64_t>(percentile_sorted(sorted, p))};
  };
  if (!slowest) {
    std::vector<double> host = steps.steady_durations_ns();
    return {at(host, 0.5), at(host, 0.9), at(host, 1), {}};
  }
  std::vector<double> durations;
  std::vector<double> ahead;
  for (const DeviceStep& step : slowest->steps) {
    if (!counts(steps, step)) continue;
    durations.push_back(static_cast<double>(step.interval.length().ns));
    ahead.push_back(static_cast<double>(step.host_ahead.ns));
  }
  std::sort(durations.begin(), durations.end());
  std::sort(ahead.begin(), ahead.end());
  return {at(durations, 0.5), at(durations, 0.9), at(durations, 1), at(ahead, 0.5)};
}

StepCost step_cost_of(const Steps& steps, const DevicePartition* slowest, DurationNs typical) {
  if (slowest) return {slowest->stretch, slowest->steady_steps, typical};
  StepCost host{{}, static_cast<std::int64_t>(steps.steady.size()), typical};
  for (std::uint32_t index : steps.steady) host.stretch += steps.all[index].cycle().length();
  return host;
}

int rank(Status status) {
  switch (status) {
    case Status::kFound:
      return 0;
    case Status::kNoGain:
      return 1;
    case Status::kCannotTell:
      return 2;
    case Status::kFine:
      return 3;
  }
  return 3;
}

}  // namespace

void sort_findings(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    if (a.status != b.status) return rank(a.status) < rank(b.status);
    // Findings about the recording come first, whatever their time.
    const bool recording = is_about_recording(a.rule);
    if (recording != is_about_recording(b.rule)) return recording;
    if (a.worth != b.worth) return a.worth > b.worth;
    return a.recoverable_per_step > b.recoverable_per_step;
  });
}

void keep_fitting_advice(const ProgramFacts& program, std::vector<Finding>& findings) {
  for (Finding& finding : findings) {
    std::erase_if(finding.advice,
                  [&](const Advice& advice) { return !program.advice_fits(advice.framework); });
    for (Advice& advice : finding.advice) advice.knob = program.fitting_knob(advice.knob);
  }
}

Analysis analyze(const Trace& trace, const AnalysisOptions& options) {
  require_events(trace);
  Analysis result;
  result.step_options = options.steps;
  std::mutex noting;
  auto note = [&](std::string_view stage) {
    std::lock_guard lock(noting);
    if (options.stage_done) options.stage_done(stage);
  };
  std::optional<RangeNames> range_names;
  std::optional<KernelNames> kernel_names;
  std::optional<CommunicationOps> communication;
  std::optional<DependencyGraph> graph;
  auto find_partitions = [&] {
    // The names and steps of the host and the facts about the device alone do not depend on each
    // other.
    run_parallel(2, [&](std::size_t part) {
      if (part == 0) {
        range_names.emplace(trace);
        result.steps = find_steps(trace, *range_names, options.steps);
        if (result.step_options.unrecorded.ns == 0)
          result.step_options.unrecorded = unrecorded_step(result.steps);
      } else {
        kernel_names.emplace(trace);
        communication.emplace(trace, *kernel_names);
        result.device_views = device_views(trace, *communication);
        result.audit = audit(trace);
      }
    });
    if (result.steps.source == StepSource::kNone && !options.steps.range.empty()) {
      fail_usage("--step-range '{}': {}. `headway stats {} ranges` lists the names.",
                 options.steps.range, result.steps.how, trace.path);
    }
    note("steps, device view and audit");
    result.attribution = attribute(trace, *range_names, *kernel_names, *communication);
    note("attribution");
    result.program = find_program(trace, *range_names, *kernel_names);
    result.partitions = partition(trace, *range_names, result.steps, result.attribution);
    result.job = options.job;
    if (result.job)
      refine_partitions(*result.job, result.job->critical, trace, result.attribution, result.steps,
                        result.partitions);
    const DevicePartition* slowest = slowest_of(result.partitions);
    result.step_times = step_times_of(result.steps, slowest);
    result.median_step = result.step_times.p50;
    result.step_cost = step_cost_of(result.steps, slowest, result.median_step);
    result.samples_per_step = samples_per_step(trace, *range_names, result.steps);
    note("partition");
  };
  auto judge = [&] {
    result.work = measure_work(trace, result.steps, result.partitions, *kernel_names);
    note("kernels");
    RuleContext context{trace,
                        result.steps,
                        result.attribution,
                        result.partitions,
                        result.step_cost.per_step(),
                        *kernel_names,
                        result.work,
                        result.job.get(),
                        result.program};
    std::span<const Rule* const> rules = all_rules();
    result.findings.resize(rules.size());
    run_parallel(rules.size(),
                 [&](std::size_t i) { result.findings[i] = rules[i]->check(*rules[i], context); });
    note("rules");
  };
  // The graph needs nothing but the trace and is the longest single part; no rule asks for it or
  // for the critical path.
  std::promise<void> partitions_known;
  run_parallel(2, [&](std::size_t part) {
    if (part == 1) {
      graph.emplace(trace);
      partitions_known.get_future().get();
      result.critical_path = find_critical_path(*graph, result.steps, result.partitions);
      graph.reset();
      note("critical path");
      return;
    }
    try {
      find_partitions();
    } catch (...) {
      partitions_known.set_exception(std::current_exception());
      throw;
    }
    partitions_known.set_value();
    judge();
  });
  keep_fitting_advice(result.program, result.findings);
  withdraw_findings(result.findings, find_graph_capture(trace));
  sort_findings(result.findings);
  result.doubts = find_doubts(trace, result);
  note("doubts");
  return result;
}

}  // namespace headway::analyzer
