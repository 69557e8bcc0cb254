// SPDX-License-Identifier: MIT
#include "gui/models/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/samples.h"
#include "common/format.h"
#include "common/statistics.h"
#include "gui/models/display_text.h"

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
  std::int64_t cannot_tell =
      std::count_if(analysis.findings.begin(), analysis.findings.end(),
                    [](const Finding& finding) { return finding.status == Status::kCannotTell; });
  const Finding* worst = analysis.findings.empty() ? nullptr : &analysis.findings.front();
  if (worst && worst->status == Status::kFound) {
    const double share = worst->predicted ? worst->predicted->share : worst->share_of_step;
    summary.headline = fmt::format("{}: {}{} of each step can be won back", worst->title,
                                   worst->predicted ? "" : "up to ", format_percent(share));
    summary.verdict = display_text(worst->claim, 600);
    return;
  }
  if (static_cast<std::size_t>(cannot_tell) == analysis.findings.size()) {
    summary.headline = "No verdict: no rule had enough to go by";
    summary.verdict = display_text(analysis.steps.how, 600);
    return;
  }
  summary.headline = "Nothing found that holds the step back";
  std::int64_t fine = static_cast<std::int64_t>(analysis.findings.size()) - cannot_tell;
  summary.verdict = fmt::format("{} rules checked and found nothing", fine);
  summary.verdict +=
      cannot_tell ? fmt::format("; {} could not tell (see Findings).", cannot_tell) : ".";
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
                             fmt::format("over {} with what lies between steps{}",
                                         format_duration(analysis.step_cost.stretch), rate)});
  summary.figures.push_back(
      {"Typical step", format_duration(analysis.step_cost.typical),
       fmt::format("on the host: p50 {} · p90 {} · longest {}", at(0.5), at(0.9), at(1))});
  std::size_t dropped = analysis.steps.all.size() - analysis.steps.steady.size();
  summary.figures.push_back({"Steady steps",
                             format_count(static_cast<std::int64_t>(durations.size())),
                             dropped ? fmt::format("{} left out · {}", dropped, note) : note});
}

void add_devices(Summary& summary, const trace::Trace& trace, const Analysis& analysis) {
  for (const analyzer::DeviceView& view : analysis.device_views) {
    const trace::Device& device = trace.devices[view.device.value];
    DurationNs busy = view.span - view.idle;
    summary.figures.push_back(
        {fmt::format("Device {} busy", device.ordinal), format_percent(ratio(busy, view.span)),
         fmt::format("of {} from first to last op · {} kernels", format_duration(view.span),
                     format_count(view.kernels))});
    if (summary.figures.size() >= 6) break;
  }
}

void add_trace(Summary& summary, const trace::Trace& trace) {
  summary.figures.push_back(
      {"Recording", format_duration(trace.end - TimeNs{}),
       fmt::format("{} events · {}", format_count(static_cast<std::int64_t>(trace.event_count())),
                   trace.complete ? "complete" : "not ended in order")});
}

std::optional<Waterfall> waterfall_of(const trace::Trace& trace, const Analysis& analysis) {
  const DevicePartition* slowest = nullptr;
  for (const DevicePartition& partition : analysis.partitions) {
    if (partition.steady_steps == 0) continue;
    if (!slowest || partition.step_cost() > slowest->step_cost()) slowest = &partition;
  }
  if (!slowest) return std::nullopt;
  Waterfall waterfall;
  waterfall.partition = static_cast<std::uint32_t>(slowest - analysis.partitions.data());
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
  const bool steps = !analysis.steps.all.empty();
  waterfall.total = steps ? "Step cost" : "Total";
  waterfall.title =
      steps
          ? fmt::format("Where the time of a step went on {} ({}; {} steps and what lies between)",
                        who, format_duration(waterfall.length), format_count(slowest->steady_steps))
          : fmt::format("Where the time of {} went ({})", who, format_duration(waterfall.length));
  return waterfall;
}

}  // namespace

Summary summarize(const trace::Trace& trace, const Analysis& analysis) {
  Summary summary;
  add_verdict(summary, trace, analysis);
  add_steps(summary, analysis);
  add_devices(summary, trace, analysis);
  add_trace(summary, trace);
  summary.waterfall = waterfall_of(trace, analysis);
  return summary;
}

}  // namespace headway::gui
