// SPDX-License-Identifier: MIT
#include "cli/live/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "analyzer/attribution/attribution.h"
#include "analyzer/job/analyze_job.h"
#include "analyzer/kernels/communication.h"
#include "analyzer/partition/partition.h"
#include "analyzer/ranks/job.h"
#include "analyzer/report/facts.h"
#include "analyzer/samples.h"
#include "analyzer/stats/selection.h"
#include "analyzer/whatif/predict_findings.h"
#include "common/format.h"
#include "trace/meta_keys.h"

namespace headway::cli::live {
namespace {

using analyzer::DevicePartition;
using trace::CounterSeries;
using trace::Trace;

std::int32_t rank_of(const Trace& trace, const DevicePartition& partition) {
  if (partition.device.valid()) return analyzer::rank_of(trace, partition.device);
  if (!partition.thread.valid()) return 0;
  return trace.processes[trace.threads[partition.thread.value].process.value].rank;
}

/// The slowest partition of the rank; for -1 of all ranks. Null without steady steps.
const DevicePartition* slowest(const Trace& trace, const std::vector<DevicePartition>& partitions,
                               std::int32_t rank) {
  const DevicePartition* result = nullptr;
  for (const DevicePartition& one : partitions) {
    if (one.steady_steps == 0 || (rank >= 0 && rank_of(trace, one) != rank)) continue;
    if (!result || one.step_cost() > result->step_cost()) result = &one;
  }
  return result;
}

void measure_steps(const Trace& trace, const analyzer::Steps& steps,
                   const analyzer::RangeNames& names, std::int32_t rank, Figures& figures) {
  const analyzer::KernelNames kernels(trace);
  const analyzer::CommunicationOps communication(trace, kernels);
  const analyzer::Attribution attribution =
      analyzer::attribute(trace, names, kernels, communication);
  const std::vector<DevicePartition> partitions =
      analyzer::partition(trace, names, steps, attribution);
  std::map<std::int32_t, DurationNs> by_rank;
  for (const DevicePartition& one : partitions) {
    if (one.steady_steps == 0) continue;
    DurationNs& cost = by_rank[rank_of(trace, one)];
    cost = std::max(cost, one.step_cost());
  }
  figures.ranks.clear();
  if (by_rank.size() > 1)
    for (const auto& [number, step] : by_rank) figures.ranks.push_back({number, step});
  if (!by_rank.contains(rank)) rank = -1;
  const DevicePartition* shown = slowest(trace, partitions, rank);
  if (!shown) return;
  figures.rank = by_rank.size() > 1 ? rank_of(trace, *shown) : -1;
  figures.step_now = shown->step_cost();
  figures.steps_now = steps.all.empty() ? 0 : shown->steady_steps;
  figures.classes = shown->per_steady_step;
  const double seconds = figures.step_now.seconds();
  // Events that show the number of ranks may have begun before this stretch.
  const auto ranks = static_cast<std::int32_t>(by_rank.size());
  const std::optional<double> samples = analyzer::samples_per_step(trace, names, steps, ranks);
  figures.samples_per_s.reset();
  if (samples && seconds > 0 && figures.steps_now > 0) figures.samples_per_s = *samples / seconds;
}

double mean(const CounterSeries& series) {
  double sum = 0;
  for (double value : series.value) sum += value;
  return sum / static_cast<double>(series.value.size());
}

/// Adds a value to a sum that may be absent, so that series of several processes are summed up.
template <class T>
void add_to(std::optional<T>& sum, double value) {
  sum = static_cast<T>(static_cast<double>(sum.value_or(T{})) + value);
}

GpuUse& gpu_of(std::vector<GpuUse>& gpus, std::int32_t device) {
  auto found = std::ranges::find(gpus, device, &GpuUse::device);
  if (found != gpus.end()) return *found;
  gpus.push_back({device});
  return gpus.back();
}

std::int64_t memory_of(const Trace& trace, std::int32_t ordinal) {
  for (const trace::Device& device : trace.devices)
    if (device.type == trace::DeviceType::kCuda && device.ordinal == ordinal)
      return device.memory_bytes;
  return 0;
}

bool has_ended(const Trace& trace, const CounterSeries& series) {
  return series.process.valid() && trace.processes[series.process.value].end.has_value();
}

void measure_machine(const Trace& trace, MachineUse& use) {
  MachineUse now;
  for (const CounterSeries& series : trace.counters) {
    if (series.value.empty() || has_ended(trace, series)) continue;
    if (series.name == "process.cpu") add_to(now.processes_cpu_percent, mean(series));
    if (series.name == "process.rss") add_to(now.resident_bytes, series.value.back());
    if (series.name == "machine.cpu") now.machine_cpu_percent = mean(series);
    if (!series.device) continue;
    if (series.name == "gpu.utilisation")
      gpu_of(now.gpus, *series.device).busy_percent = mean(series);
    if (series.name == "gpu.memory_used") {
      GpuUse& gpu = gpu_of(now.gpus, *series.device);
      gpu.memory_bytes = static_cast<std::int64_t>(series.value.back());
      gpu.memory_total_bytes = memory_of(trace, *series.device);
    }
  }
  const std::string_view processors = trace.meta_value(trace::meta::kCpuCount);
  std::from_chars(processors.data(), processors.data() + processors.size(), now.processors);
  std::ranges::sort(now.gpus, {}, &GpuUse::device);
  use = std::move(now);
}

}  // namespace

std::int64_t dropped_events(const Trace& trace) {
  constexpr auto kDropping = std::to_array<trace::Loss>(
      {trace::Loss::kRingFull, trace::Loss::kThreadsWithoutRing, trace::Loss::kCuptiDropped,
       trace::Loss::kDiskFull, trace::Loss::kReentrantEvent});
  std::int64_t dropped = 0;
  for (const trace::LossCount& loss : trace.losses) {
    for (trace::Loss one : kDropping)
      if (loss.name == trace::declaration_of(one).name) dropped += loss.count;
  }
  return dropped;
}

void measure(const Trace& trace, const analyzer::Steps& steps, const analyzer::RangeNames& names,
             std::int32_t rank, Figures& figures) {
  if (trace.event_count() > 0) measure_steps(trace, steps, names, rank, figures);
  measure_machine(trace, figures.machine);
  figures.dropped = dropped_events(trace);
  figures.processes = std::ranges::count_if(trace.counters, [&](const CounterSeries& series) {
    return series.name == "process.rss" && !series.value.empty() && !has_ended(trace, series);
  });
}

Cause find_cause(Trace trace, const analyzer::StepOptions& options, std::int32_t& rank) {
  Cause cause;
  cause.until = trace.end;
  analyzer::AnalysisOptions analysis_options;
  analysis_options.steps = options;
  std::unique_ptr<analyzer::JobReport> report =
      analyzer::analyze_ranks(std::move(trace), analysis_options);
  analyzer::predict_findings(report->trace, report->analysis, {},
                             report->whole ? &*report->whole : nullptr);
  if (report->analysis.job)
    rank = report->analysis.job->ranks.at(report->analysis.job->critical).identity.rank;
  for (const analyzer::Finding& finding : report->analysis.findings) {
    if (finding.status != analyzer::Status::kFound) continue;
    cause.found = true;
    cause.text = fmt::format("{}: {}", analyzer::finding_label(finding),
                             finding.predicted ? analyzer::fix_line(*finding.predicted)
                                               : analyzer::gain_label(report->analysis, finding));
    return cause;
  }
  const auto& plan = report->analysis.plan;
  cause.found = !plan.empty();
  cause.text = plan.empty() ? "nothing worth fixing"
                            : fmt::format("several limits at once: {} fixes together save {}",
                                          plan.size(), format_percent(plan.back().share));
  return cause;
}

}  // namespace headway::cli::live
