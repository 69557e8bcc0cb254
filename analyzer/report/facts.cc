// SPDX-License-Identifier: MIT
#include "analyzer/report/facts.h"
#include "analyzer/partition/steady_ops.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "analyzer/hardware/gpus.h"
#include "analyzer/ranks/job.h"
#include "analyzer/report/job.h"
#include "analyzer/report/report.h"
#include "analyzer/samples.h"
#include "analyzer/stats/tables.h"
#include "analyzer/whatif/fix.h"
#include "common/counted.h"
#include "common/format.h"
#include "common/statistics.h"
#include "trace/loss_counters.h"
#include "trace/meta_keys.h"

namespace headway::analyzer {
namespace {

using trace::Trace;

std::string utc_text(std::int64_t epoch_ns) {
  std::time_t seconds = static_cast<std::time_t>(epoch_ns / 1'000'000'000);
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(seconds));
}

std::string recorded_line(const Trace& trace) {
  std::string text = trace.start_utc_ns ? utc_text(trace.start_utc_ns) + ", " : "";
  text += format_duration(trace.end - TimeNs{0});
  std::string_view host = trace.meta_value(trace::meta::kHost);
  if (!host.empty()) text += fmt::format(" on {}", host);
  std::set<trace::ProcessId> processes;
  std::int64_t threads = 0;
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    if (trace.ranges_of_thread[{t}].empty() && trace.calls_of_thread[{t}].empty()) continue;
    processes.insert(trace.threads[t].process);
    ++threads;
  }
  return text +
         fmt::format(", {} and {} with {}",
                     counted(static_cast<std::int64_t>(processes.size()), "process", "processes"),
                     counted(threads, "thread", "threads"),
                     counted(static_cast<std::int64_t>(trace.event_count()), "event", "events"));
}

std::string device_line(const Trace& trace, trace::DeviceId id) {
  const trace::Device& device = trace.devices[id.value];
  std::string_view type = device.name.starts_with("TPU")                 ? "device"
                          : device.type == trace::DeviceType::kCuda      ? "CUDA"
                          : device.type == trace::DeviceType::kHost      ? "host"
                          : device.type == trace::DeviceType::kSimulated ? "simulated"
                                                                         : "unknown";
  return fmt::format("{} {}{}{}", type, device.ordinal, device.name.empty() ? "" : ": ",
                     device.name);
}

/// "4.37 ms over 158 steps (692 ms in all); typical step 607 µs; 7,326 samples/s".
std::string step_cost_line(const Analysis& analysis) {
  const StepCost& cost = analysis.step_cost;
  std::string text =
      fmt::format("{} over {} (total {}); typical step {}", format_duration(cost.per_step()),
                  counted(cost.steps, "step", "steps"), format_duration(cost.stretch),
                  format_duration(cost.typical));
  if (const DurationNs unrecorded = analysis.step_options.unrecorded; unrecorded.ns > 0)
    text += fmt::format("; unrecorded {}", format_duration(unrecorded));
  if (const std::optional<double> rate = analysis.samples_per_s())
    text += "; " + samples_per_s_text(*rate);
  return text;
}

bool is_ceiling(const PredictedGain& gain) {
  const Fix* fix = find_fix(gain.fix);
  return fix && fix->kind == FixKind::kCeiling;
}

}  // namespace

std::string between_note(const DevicePartition& partition) {
  std::string text;
  if (partition.per_steady_step[TimeClass::kBetweenSteps].ns == 0) return text;
  for (const BetweenCauseInfo& cause : between_causes()) {
    const DurationNs time = partition.between[cause.cause];
    if (time.ns == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", cause.label, format_duration(time));
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> report_facts(const Trace& trace,
                                                              const Analysis& analysis) {
  std::vector<std::pair<std::string, std::string>> facts;
  if (analysis.job) facts = job_facts(*analysis.job);
  facts.emplace_back("trace", trace.path);
  std::string_view command = trace.meta_value(trace::meta::kCommand);
  if (!command.empty()) facts.emplace_back("command", command);
  facts.emplace_back("recorded", recorded_line(trace));
  std::string_view scope = trace.meta_value(trace::meta::kScope);
  if (!scope.empty()) facts.emplace_back("chosen scope", scope);
  for (const DeviceView& view : analysis.device_views)
    facts.emplace_back("device", device_line(trace, view.device));
  const Steps& steps = analysis.steps;
  if (steps.source == StepSource::kNone) {
    facts.emplace_back("steps", fmt::format("none: {}", steps.how));
    return facts;
  }
  std::string dropped = steps.warm_up_note();
  if (!dropped.empty())
    dropped = "; " + dropped;
  else if (steps.dropped_warm_up)
    dropped = fmt::format(", {} dropped as warm-up", steps.dropped_warm_up);
  facts.emplace_back("steps",
                     fmt::format("{}; {} steady{}", steps.how, steps.steady.size(), dropped));
  std::vector<double> durations = steps.steady_durations_ns();
  auto p = [&](double q) {
    return format_duration({static_cast<std::int64_t>(percentile_sorted(durations, q))});
  };
  if (analysis.step_cost.steps > 0) facts.emplace_back("step cost", step_cost_line(analysis));
  if (!durations.empty())
    facts.emplace_back("step time",
                       fmt::format("{} p50, {} p90, {} max (on the host, from start to start)",
                                   p(0.5), p(0.9), p(1)));
  return facts;
}

std::string report_title(const Trace& trace, const Analysis& analysis) {
  if (!analysis.job) return trace.path;
  std::set<std::string> files;
  std::set<std::string> folders;
  for (const RankSummary& rank : analysis.job->ranks) {
    files.insert(rank.file);
    folders.insert(std::filesystem::path(rank.file).parent_path().string());
  }
  if (files.size() == 1) return *files.begin();
  std::string count = fmt::format("{} traces", files.size());
  if (folders.size() > 1 || folders.begin()->empty()) return count;
  return fmt::format("{} ({})", *folders.begin(), count);
}

std::string_view status_words(Status status) {
  switch (status) {
    case Status::kFound:
      return "found";
    case Status::kFine:
      return "fine";
    case Status::kCannotTell:
      return "cannot tell";
    case Status::kNoGain:
      return "no gain";
  }
  return "cannot tell";
}

std::string finding_label(const Finding& finding) {
  return finding.sub_cause.empty() ? std::string(finding.rule)
                                   : fmt::format("{} ({})", finding.rule, finding.sub_cause);
}

namespace {

/// The predicted gain of the first fix; null where replays give no more than an upper limit.
const PredictedGain* replayed(const Finding& finding) {
  if (finding.basis == FigureBasis::kExposed) return nullptr;
  if (!finding.predicted || is_ceiling(*finding.predicted)) return nullptr;
  return finding.fixes.empty() ? &*finding.predicted : &finding.fixes.front();
}

}  // namespace

double gain_share(const Finding& finding) {
  const PredictedGain* gain = replayed(finding);
  return gain ? gain->share : finding.share_of_step;
}

std::string gain_label(const Analysis& analysis, const Finding& finding) {
  constexpr double kMore = 0.01;
  const std::string_view unit = analysis.steps.all.empty() ? "in all" : "per step";
  auto of_step = [&](DurationNs time, double share) {
    return fmt::format("{} {} ({})", format_duration(time), unit, format_percent(share));
  };
  const std::string most = of_step(finding.recoverable_per_step, finding.share_of_step);
  if (finding.recoverable_per_step.ns == 0) return "no time yet";
  if (finding.basis == FigureBasis::kExposed) return most + " exposed, not replayed";
  const PredictedGain* gain = replayed(finding);
  if (!gain) return "up to " + most;
  std::string text = of_step(gain->recorded - gain->step, gain->share);
  if (finding.share_of_step >= gain->share + kMore)
    text += fmt::format(", at most {}", format_percent(finding.share_of_step));
  return text;
}

namespace {

std::string fix_words(const PredictedGain& gain) {
  std::string name(gain.fix);
  std::ranges::replace(name, '-', ' ');
  return name;
}

/// "−88.0 %, 95 % interval −78.2 to −97.7 %".
std::string change_of(const PredictedGain& gain) {
  auto change = [](double share) { return format_signed(-100 * share); };
  return fmt::format("{} %, 95 % interval {} to {} %", change(gain.share), change(gain.low),
                     change(gain.high));
}

}  // namespace

std::string fix_line(const PredictedGain& gain) {
  const std::string before = format_duration(gain.recorded);
  const std::string after = format_duration(gain.step);
  const auto unit = [](const std::string& text) { return text.substr(text.rfind(' ') + 1); };
  const bool same = unit(before) == unit(after);
  std::string line =
      fmt::format("{}: step {} → {} ({})", fix_words(gain),
                  same ? before.substr(0, before.rfind(' ')) : before, after, change_of(gain));
  if (is_ceiling(gain)) return line + ", at best";
  constexpr double kSure = 0.9;
  const Fix* fix = find_fix(gain.fix);
  return gain.certainty < kSure && fix ? fmt::format("{}; not known: {}", line, fix->cannot_know)
                                       : line;
}

std::vector<std::string> plan_lines(const Analysis& analysis) {
  std::vector<std::string> lines;
  for (const PredictedGain& gain : analysis.plan)
    lines.push_back(fmt::format("{}: step {} ({})", fix_words(gain), format_duration(gain.step),
                                change_of(gain)));
  return lines;
}

std::string prediction_label(const Finding& finding) {
  if (!finding.predicted)
    return finding.unpredicted.empty() ? "" : fmt::format("not replayed: {}", finding.unpredicted);
  return fix_line(*finding.predicted);
}

std::string prediction_note(const Analysis& analysis) {
  constexpr double kMuch = 0.05;
  std::string out;
  for (const Assumption& one : analysis.assumed)
    out += (out.empty() ? "predicted gains assume " : "; ") + to_text(one);
  if (analysis.unexplained >= kMuch)
    out += fmt::format("{}{} of the step has no recorded cause and is in no predicted gain",
                       out.empty() ? "" : "; ", format_percent(analysis.unexplained));
  if (analysis.recording_cost.ns > 0)
    out += fmt::format("{}predicted gains are for a run without recording, which costs {} per step",
                       out.empty() ? "" : "; ", format_duration(analysis.recording_cost));
  if (analysis.sampled_steps > 0)
    out += fmt::format("{}predicted gains come from a replay of {} consecutive typical steps",
                       out.empty() ? "" : "; ", analysis.sampled_steps);
  return out;
}

std::vector<const Finding*> same_time(const Analysis& analysis, const Finding& finding) {
  std::vector<const Finding*> all;
  for (const Finding& one : analysis.findings)
    if (one.status == Status::kFound && one.part_of == finding.rule) all.push_back(&one);
  return all;
}

std::string advice_line(const Advice& advice) {
  std::string line = fmt::format("{}: {}", advice.framework, advice.text);
  if (!advice.knob.empty()) line += fmt::format(" [{}]", advice.knob);
  if (!advice.current.empty()) line += fmt::format(" (now {})", advice.current);
  return line;
}

Table waterfall_table(const Trace& trace, const Analysis& analysis) {
  Table table = partition_table(trace, analysis);
  Table shown{table.id, table.title, table.note, {}, {}};
  std::vector<std::size_t> keep;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    bool drop = table.columns[c].id == "class" ||
                (table.columns[c].id == "device" && analysis.partitions.size() == 1);
    if (!drop) keep.push_back(c);
  }
  for (std::size_t c : keep) shown.columns.push_back(table.columns[c]);
  for (const auto& row : table.rows) {
    auto& target = shown.rows.emplace_back();
    for (std::size_t c : keep) target.push_back(row[c]);
  }
  return shown;
}

const DeviceStep* typical_step(const Analysis& analysis) {
  if (analysis.partitions.empty()) return nullptr;
  std::vector<const DeviceStep*> steps;
  for (const DeviceStep& step : analysis.partitions.front().steps) {
    if (counts(analysis.steps, step)) steps.push_back(&step);
  }
  if (steps.empty()) return nullptr;
  auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end(),
                   [](const DeviceStep* a, const DeviceStep* b) {
                     return std::pair(a->interval.length(), a->interval.begin) <
                            std::pair(b->interval.length(), b->interval.begin);
                   });
  return *middle;
}

namespace {

/// The device that computes for the largest share of its step, and so decides whether the run is
/// compute-bound; null without one.
const DevicePartition* busiest(const Analysis& analysis) {
  const DevicePartition* result = nullptr;
  auto share = [](const DevicePartition& d) {
    return ratio(d.per_steady_step.of_group(TimeGroup::kCompute), d.per_steady_step.total());
  };
  for (const DevicePartition& device : analysis.partitions) {
    if (device.steady_steps > 0 && device.device.valid() &&
        (!result || share(device) > share(*result)))
      result = &device;
  }
  return result;
}

/// Model flops over the peak of the device's matrix units, or of its general ones where no kernel
/// used those; "" when either is not known.
std::string utilisation(const Trace& trace, const KernelWork& work, DurationNs step) {
  if (!work.device.valid()) return "";  // of a host thread
  DeviceLimits limits = limits_of(trace.devices[work.device.value], work.architecture);
  double peak = work.matrix_tensor.ns > 0 && limits.model ? limits.model->half_flops : 0;
  if (peak <= 0) peak = limits.fp32_flops;
  if (work.flops <= 0 || peak <= 0 || step.ns <= 0) return "";
  return fmt::format("; {} of the device's peak arithmetic",
                     format_percent(work.flops / step.seconds() / peak));
}

/// "Compute-bound: …. " when the device hardly waits for anything; else "".
std::string compute_bound(const Trace& trace, const Analysis& analysis) {
  constexpr double kHardlyWaits = 0.8;
  const DevicePartition* device = busiest(analysis);
  if (!device) return "";
  DurationNs step = device->per_steady_step.total();
  // Time in which the device was busy with what was not recorded says nothing about this program.
  for (const Finding& finding : analysis.findings) {
    if (finding.status == Status::kFound && finding.rule == "unrecorded-device-work")
      step = step - std::min(step, finding.recoverable_per_step);
  }
  double busy = ratio(device->per_steady_step.of_group(TimeGroup::kCompute), step);
  if (busy < kHardlyWaits) return "";
  const KernelWork& work =
      analysis.work[static_cast<std::size_t>(device - analysis.partitions.data())];
  std::string kinds = work.of(KernelFamily::kUnknown) * 2 > work.compute() ? "" : describe(work);
  return fmt::format("Compute-bound: the device computes {} of the {}{}{}{}. ",
                     format_percent(busy), analysis.steps.all.empty() ? "span" : "step",
                     kinds.empty() ? "" : ", by kernel time ", kinds,
                     utilisation(trace, work, step));
}

/// A sentence on fixes that gain only when several are made; empty without such fixes.
std::string only_together(const Analysis& analysis) {
  if (analysis.plan.size() < 2) return "";
  std::string names;
  for (std::size_t i = 0; i < analysis.plan.size(); ++i) {
    const bool last = i + 1 == analysis.plan.size();
    names += fmt::format("{}{}", i == 0 ? "" : last ? " and " : ", ", analysis.plan[i].fix);
  }
  const PredictedGain& both = analysis.plan.back();
  return fmt::format(
      "No single change is worth a finding. Together, {} shorten the {} step to {} ({}).", names,
      format_duration(both.recorded), format_duration(both.step), change_of(both));
}

/// A span without steps is judged only if at least this share of it is known.
constexpr double kMostlyTold = 0.5;

/// A cause that may gain this share of the step, but is hidden by the scatter of steps, leaves the verdict open.
constexpr double kMayMatter = 0.1;

/// The cause with the largest gain that is hidden by the scatter of steps; null: none gains kMayMatter.
const Finding* undecided(const Analysis& analysis) {
  const Finding* most = nullptr;
  for (const Finding& finding : analysis.findings) {
    if (finding.status != Status::kNoGain || !finding.predicted ||
        finding.predicted->surety != GainSurety::kOpen ||
        finding.predicted->share < (most ? most->predicted->share : kMayMatter))
      continue;
    most = &finding;
  }
  return most;
}

/// True for a program that died before CUPTI delivered its records: what the host did says little then.
bool lost_all_device_work(const Trace& trace) {
  const std::string_view lost = trace::declaration_of(trace::Loss::kCuptiDropped).name;
  return trace.device_ops.size() == 0 &&
         std::ranges::any_of(trace.losses, [&](const trace::LossCount& loss) {
           return loss.name == lost && loss.count > 0;
         });
}

}  // namespace

std::string verdict(const Trace& trace, const Analysis& analysis) {
  if (!analysis.findings.empty() && analysis.findings.front().status == Status::kFound) {
    const Finding& first = analysis.findings.front();
    std::string cause = first.sub_cause.empty() ? "" : fmt::format(" ({})", first.sub_cause);
    // Matches the interval of its gain, which is shown below.
    const bool probable = first.predicted && first.predicted->surety == GainSurety::kProbable;
    return fmt::format("{}{}{}{}. {}", compute_bound(trace, analysis), probable ? "Probably: " : "",
                       first.title, cause, first.claim);
  }
  if (lost_all_device_work(trace))
    return "Cannot tell: CUDA was recorded, but all records of its device work were lost. The "
           "figures are of the training thread only.";
  if (analysis.partitions.empty()) {
    return trace.device_ops.size() == 0
               ? "Cannot tell: the trace has no device work."
               : "Cannot tell: no device work lies inside the training steps.";
  }
  const DevicePartition& device = analysis.partitions.front();
  double busy =
      ratio(device.per_steady_step.of_group(TimeGroup::kCompute), device.per_steady_step.total());
  std::int64_t unknown =
      std::count_if(analysis.findings.begin(), analysis.findings.end(),
                    [](const Finding& f) { return f.status == Status::kCannotTell; });
  std::string rest =  // without a device, most rules do not apply
      unknown && device.device.valid()
          ? fmt::format(" {} of {} rules cannot tell.", unknown, analysis.findings.size())
          : "";
  if (device.steady_steps == 0) return "Cannot tell: no steady step was recorded." + rest;
  const double told =
      1 - ratio(device.per_steady_step[TimeClass::kUnknown], device.per_steady_step.total());
  if (analysis.steps.all.empty() && told < kMostlyTold)
    return fmt::format(
        "Cannot tell: no training steps were found, and {} of the {} span is unexplained.{}",
        format_percent(1 - told), format_duration(device.per_steady_step.total()), rest);
  if (analysis.steps.all.empty() && !device.device.valid())
    return fmt::format(
        "Cannot tell: no training step was found in the {} that the recording tells of.{}",
        format_duration(device.per_steady_step.total()), rest);
  if (const Finding* open = undecided(analysis))
    return compute_bound(trace, analysis) + fmt::format(
                                                "Cannot tell: {} ({}) may gain {} of the step, but "
                                                "steps vary as much. Record more steps.{}",
                                                open->predicted->fix, open->rule,
                                                format_percent(open->predicted->share), rest);
  if (const std::string both = only_together(analysis); !both.empty())
    return compute_bound(trace, analysis) + both + rest;
  return compute_bound(trace, analysis) + fmt::format(
                                              "Nothing worth fixing: no finding above 5 % of the "
                                              "{0}. The {4} computes {1} of the {2} {0}.{3}",
                                              analysis.steps.all.empty() ? "span" : "step",
                                              format_percent(busy),
                                              format_duration(device.per_steady_step.total()), rest,
                                              device.device.valid() ? "device" : "training thread");
}

}  // namespace headway::analyzer
