// SPDX-License-Identifier: MIT
#include "gui/models/figures/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/job/analyze_job.h"
#include "analyzer/report/job.h"
#include "analyzer/report/report.h"
#include "analyzer/samples.h"
#include "common/format.h"
#include "common/statistics.h"
#include "gui/models/text/display_text.h"
#include "trace/meta_keys.h"

namespace headway::gui {

using analyzer::Analysis;
using analyzer::DevicePartition;
using analyzer::Finding;
using analyzer::Status;

namespace {

void add_verdict(Summary& summary, const trace::Trace& trace, const Analysis& analysis) {
  if (trace.event_count() == 0) {
    summary.headline = "Nothing to judge: the trace has no events";
    summary.verdict =
        "No ranges, device work or API calls were recorded. Annotate the program with NVTX ranges, "
        "or run it on a GPU, and record it again.";
    return;
  }
  const Finding* worst = analysis.findings.empty() ? nullptr : &analysis.findings.front();
  if (worst && worst->status == Status::kFound) {
    const double share = worst->predicted ? worst->predicted->share : worst->share_of_step;
    summary.headline = fmt::format("{}: {}{} of each step can be saved", worst->title,
                                   worst->predicted ? "" : "up to ", format_percent(share));
    summary.verdict = display_text(worst->claim, 600);
    return;
  }
  summary.verdict = display_text(analyzer::verdict(trace, analysis), 600);
  if (summary.verdict.find("Cannot tell") != std::string::npos)
    summary.headline = "Cannot tell what limits the step";
  else if (!analysis.plan.empty())
    summary.headline =
        fmt::format("Several limits at once: {} fixes together save {} of each step",
                    analysis.plan.size(), format_percent(analysis.plan.back().share));
  else
    summary.headline = "Nothing worth fixing";
}

void add_steps(Summary& summary, const Analysis& analysis) {
  std::vector<double> durations = analysis.steps.steady_durations_ns();
  std::string note = display_text(analysis.steps.how, 200);
  if (durations.empty()) {
    summary.figures.push_back({"Step cost", "–", note});
    return;
  }
  auto at = [&](double p) {
    return format_duration({static_cast<std::int64_t>(percentile_sorted(durations, p))});
  };
  std::string rate;
  if (const std::optional<double> per_s = analysis.samples_per_s())
    rate = " · " + analyzer::samples_per_s_text(*per_s);
  summary.figures.push_back({"Step cost", format_duration(analysis.step_cost.per_step()),
                             fmt::format("over {} including time between steps{}",
                                         format_duration(analysis.step_cost.stretch), rate)});
  summary.figures.push_back(
      {"Typical step", format_duration(analysis.step_cost.typical),
       fmt::format("on the host: p50 {} · p90 {} · longest {}", at(0.5), at(0.9), at(1))});
  std::size_t dropped = analysis.steps.all.size() - analysis.steps.steady.size();
  summary.figures.push_back({"Steady steps",
                             format_count(static_cast<std::int64_t>(durations.size())),
                             dropped ? fmt::format("{} excluded · {}", dropped, note) : note});
}

/// Adds the ranks of the job, and which rank the other figures are about.
void add_ranks(Summary& summary, const analyzer::JobAnalysis& job) {
  const auto facts = analyzer::job_facts(job);
  summary.figures.push_back(
      {"Ranks",
       fmt::format(
           "{} of {}", job.ranks.size(),
           std::max<std::size_t>(job.ranks.size(), static_cast<std::size_t>(job.world_size))),
       "figures of " + display_text(facts.at(1).second, 200)});
}

void add_devices(Summary& summary, const trace::Trace& trace, const Analysis& analysis,
                 const std::string& rank) {
  for (const analyzer::DeviceView& view : analysis.device_views) {
    const trace::Device& device = trace.devices[view.device.value];
    DurationNs busy = view.span - view.idle;
    summary.figures.push_back(
        {fmt::format("{} {} busy", rank.empty() ? "Device" : rank + ", device", device.ordinal),
         format_percent(ratio(busy, view.span)),
         fmt::format("of {} from first to last op · {} kernels", format_duration(view.span),
                     format_count(view.kernels))});
    if (summary.figures.size() >= 6) break;
  }
}

void add_trace(Summary& summary, const trace::Trace& trace) {
  summary.figures.push_back(
      {"Recording", format_duration(trace.end - TimeNs{}),
       fmt::format("{} events · {}", format_count(static_cast<std::int64_t>(trace.event_count())),
                   !trace.meta_value(trace::meta::kLive).empty() ? "still recording"
                   : trace.complete                              ? "complete"
                                                                 : "not ended in order")});
}

/// The index of `sought`, a partition of one rank, among the partitions of all ranks.
std::uint32_t place_among(const std::vector<DevicePartition>& all, const DevicePartition& sought) {
  auto same = std::find_if(all.begin(), all.end(), [&](const DevicePartition& one) {
    return one.device == sought.device && one.thread == sought.thread;
  });
  return same == all.end() ? 0 : static_cast<std::uint32_t>(same - all.begin());
}

/// `all`: the partitions of all ranks; `analysis` has those of one rank.
std::optional<Waterfall> waterfall_of(const trace::Trace& trace, const Analysis& analysis,
                                      const std::vector<DevicePartition>& all,
                                      const std::string& rank) {
  const DevicePartition* slowest = nullptr;
  for (const DevicePartition& partition : analysis.partitions) {
    if (partition.steady_steps == 0) continue;
    if (!slowest || partition.step_cost() > slowest->step_cost()) slowest = &partition;
  }
  if (!slowest) return std::nullopt;
  Waterfall waterfall;
  waterfall.partition = place_among(all, *slowest);
  waterfall.length = slowest->per_steady_step.total();
  DurationNs begin;
  for (const analyzer::TimeClassInfo& info : analyzer::time_classes()) {
    DurationNs length = slowest->per_steady_step[info.time_class];
    if (length.ns <= 0) continue;
    waterfall.bars.push_back({info.time_class, begin, length});
    begin += length;
  }
  std::string who = slowest->device.valid()
                        ? fmt::format("device {}", trace.devices[slowest->device.value].ordinal)
                        : display_text(analyzer::partition_label(trace, *slowest), 60);
  if (!rank.empty()) who = rank + ", " + who;
  const bool steps = !analysis.steps.all.empty();
  waterfall.total = steps ? "Step cost" : "Total";
  waterfall.title =
      steps
          ? fmt::format("Step time by class on {} ({}; {} steps including time between them)", who,
                        format_duration(waterfall.length), format_count(slowest->steady_steps))
          : fmt::format("Time of {} by class ({})", who, format_duration(waterfall.length));
  return waterfall;
}

}  // namespace

Summary summarize(const trace::Trace& trace, const Analysis& analysis,
                  const analyzer::JobReport* job) {
  const trace::Trace& judged = job ? job->trace : trace;
  const Analysis& verdicts = job ? job->analysis : analysis;
  const std::string rank =
      job ? analyzer::rank_label(verdicts.job->ranks[verdicts.job->critical]) : std::string();
  std::string label = rank;
  if (!label.empty()) label[0] = 'R';
  Summary summary;
  add_verdict(summary, judged, verdicts);
  add_steps(summary, verdicts);
  if (job) add_ranks(summary, *verdicts.job);
  add_devices(summary, judged, verdicts, label);
  add_trace(summary, trace);
  summary.waterfall = waterfall_of(judged, verdicts, analysis.partitions, rank);
  return summary;
}

}  // namespace headway::gui
