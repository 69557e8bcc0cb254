// SPDX-License-Identifier: MIT
#include "analyzer/doubts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstring>
#include <map>
#include <span>

#include "analyzer/evidence/own_profiler.h"
#include "analyzer/evidence/recording.h"
#include "analyzer/ranks/job.h"
#include "common/format.h"
#include "trace/meta_keys.h"

namespace headway::analyzer {
namespace {

using trace::Trace;

constexpr std::int64_t kFewSteps = 10;

/// Not strsignal(): its text depends on the locale, and reports must not.
std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

std::string process_label(const Trace& trace, const trace::Process& process) {
  if (trace.world_size > 1 && process.rank >= 0 && process.injected)
    return process.name.empty()
               ? fmt::format("Rank {} (process {})", process.rank, process.pid)
               : fmt::format("Rank {} (process {}, {})", process.rank, process.pid, process.name);
  return process.name.empty() ? fmt::format("Process {}", process.pid)
                              : fmt::format("Process {} ({})", process.pid, process.name);
}

/// "a", "a and b", "a, b, c and 7 more".
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  std::string text;
  const std::size_t shown = std::min(names.size(), kShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == names.size() && i > 0;
    text += (i == 0 ? "" : last ? " and " : ", ") + names[i];
  }
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

/// Null where the parent was not recorded.
const trace::Process* parent_of(const Trace& trace, const trace::Process& process) {
  for (const trace::Process& one : trace.processes)
    if (one.pid == process.parent_pid && one.pid != process.pid) return &one;
  return nullptr;
}

/// One doubt for all processes that ended alike: a job has hundreds of processes.
void add_ends(const Trace& trace, std::vector<Doubt>& doubts) {
  std::map<int, std::vector<const trace::Process*>> by_signal;
  std::map<int, std::vector<std::string>> by_code;
  for (const trace::Process& process : trace.processes) {
    const trace::Process* parent = parent_of(trace, process);
    if (process.signal && *process.signal > 0) {
      // Programs end their workers like this, and launchers end the other ranks when one fails.
      if (*process.signal == SIGTERM && parent) continue;
      by_signal[*process.signal].push_back(&process);
    } else if (process.injected && process.exit_code && *process.exit_code != 0 &&
               (!parent || trace.world_size > 1)) {
      by_code[*process.exit_code].push_back(process_label(trace, process));
    }
  }
  for (const auto& [signal, processes] : by_signal) {
    std::vector<std::string> names;
    for (const trace::Process* process : processes) names.push_back(process_label(trace, *process));
    const trace::Process& first = *processes.front();
    const bool one = processes.size() == 1;
    const std::string when =
        one && first.end ? fmt::format(" after {}", format_duration(*first.end - first.start)) : "";
    doubts.push_back({"loss", fmt::format("The run was cut: {} {} ended by {}{}. Everything {} had "
                                          "recorded by then is here; open ranges have no end.",
                                          some_of(names), one ? "was" : "were", signal_name(signal),
                                          when, one ? "it" : "they")});
  }
  for (const auto& [code, names] : by_code)
    doubts.push_back(
        {"doubt", fmt::format("The run may have been cut: {} failed with exit code {}.",
                              some_of(names), code)});
}

void add_cuts(const Trace& trace, std::vector<Doubt>& doubts) {
  const bool live = !trace.meta_value(trace::meta::kLive).empty();
  if (live) {
    doubts.push_back({"info", std::string(kStillRecording)});
  } else if (!trace.complete) {
    doubts.push_back({"loss",
                      "The recording was cut: the recorder ended before finishing. All data stored "
                      "by then is here."});
  }
  add_ends(trace, doubts);
  std::int64_t open = 0;
  for (std::uint8_t flags : trace.ranges.flags) open += (flags & trace::Ranges::kUnfinished) != 0;
  if (open && live) {
    doubts.push_back(
        {"info", fmt::format("{} still open.",
                             open == 1 ? "1 range is" : format_count(open) + " ranges are")});
  } else if (open && !trace.meta_value(trace::meta::kScopeEnded).empty()) {
    doubts.push_back(
        {"info", fmt::format("{} still open at the chosen end of the recording.",
                             open == 1 ? "1 range was" : format_count(open) + " ranges were")});
  } else if (open)
    doubts.push_back(
        {"doubt", fmt::format("{} still open when the process ended: it was interrupted, or never "
                              "closes its ranges.",
                              open == 1 ? "1 range was" : format_count(open) + " ranges were")});
  if (trace.meta_value(trace::meta::kInterrupted) == "1") {
    doubts.push_back(
        {"doubt", "The run was cut: a signal to the recorder (e.g. Ctrl-C) ended the recording."});
  }
}

/// Time that was excluded from recording by choice is not a loss, but some figures span it.
void add_scope(const Trace& trace, std::vector<Doubt>& doubts) {
  std::int64_t windows = 0;
  std::string_view text = trace.meta_value(trace::meta::kScopeWindows);
  std::from_chars(text.data(), text.data() + text.size(), windows);
  if (windows < 2) return;
  doubts.push_back(
      {"info",
       fmt::format("{} time windows were recorded, as requested. Step figures are correct; "
                   "whole-trace figures (rates, the run's critical path) treat the gaps as empty.",
                   format_count(windows))});
}

void add_steps(const Trace& trace, const Analysis& analysis, std::vector<Doubt>& doubts) {
  const Steps& steps = analysis.steps;
  if (steps.source == StepSource::kNone) {
    doubts.push_back(
        {"doubt", fmt::format("No training steps were found ({}): figures cover the whole trace.",
                              steps.how)});
  } else if (steps.steady.empty()) {
    doubts.push_back({"doubt", "No steady step: all steps are first, last, warm-up or cut."});
  } else if (static_cast<std::int64_t>(steps.steady.size()) < kFewSteps) {
    doubts.push_back(
        {"doubt", fmt::format("Only {} steady step{}: medians are unreliable. Record more steps.",
                              steps.steady.size(), steps.steady.size() == 1 ? "" : "s")});
  }
  if (steps.source != StepSource::kNone && analysis.partitions.empty()) {
    doubts.push_back(
        {"doubt", "No device work was launched in the steps, so their time cannot be classified."});
  }
  if (steps.source == StepSource::kPattern) {
    doubts.push_back({"doubt", fmt::format("Steps were detected by repetition: {}. If this is "
                                           "wrong, name them with --step-range.",
                                           steps.how)});
  }
  std::vector<std::string> without;
  for (const DevicePartition& partition : analysis.partitions) {
    if (!partition.device.valid()) without.push_back(partition_label(trace, partition));
  }
  if (!without.empty()) {
    const bool one = without.size() == 1;
    doubts.push_back(
        {"info",
         fmt::format(
             "{} {} no device work in the trace: {} steps are based on the training thread.",
             some_of(without), one ? "has" : "have", one ? "its" : "their")});
  }
}

void add_coverage(const Trace& trace, const Analysis& analysis, std::vector<Doubt>& doubts) {
  DurationNs total;
  DurationNs unattributed;
  for (std::size_t i = 0; i < trace.device_ops.size(); ++i) {
    DurationNs time = trace.device_ops.end[i] - trace.device_ops.start[i];
    total += time;
    if (analysis.attribution.op_of[i].value == 0) unattributed += time;
  }
  if (ratio(unattributed, total) > 0.05) {
    doubts.push_back({"doubt", fmt::format("{} of the device time belongs to no range or op.",
                                           format_percent(ratio(unattributed, total)))});
  }
  double unknown = 0;
  for (const DevicePartition& partition : analysis.partitions)
    unknown = std::max(unknown, ratio(partition.per_steady_step[TimeClass::kUnknown],
                                      partition.per_steady_step.total()));
  if (unknown > 0.02)
    doubts.push_back({"doubt", fmt::format("{} of the step is idle without a recorded reason.",
                                           format_percent(unknown))});
  std::vector<std::string> simulated;
  for (const trace::Device& device : trace.devices) {
    if (device.type == trace::DeviceType::kSimulated || device.name.starts_with("Simulated "))
      simulated.push_back(std::to_string(device.ordinal));
  }
  if (simulated.size() == 1)
    doubts.push_back(
        {"doubt", fmt::format("Device {} is simulated: a cost model produced its times.",
                              simulated.front())});
  if (simulated.size() > 1)
    doubts.push_back(
        {"doubt", fmt::format("{} devices are simulated: a cost model produced their times.",
                              simulated.size())});
}

/// Calls of CUDA's interfaces per steady step, with what lies between steps.
double calls_per_step(const Trace& trace, const Steps& steps) {
  if (steps.steady.empty()) return 0;
  const Interval steady{steps.all[steps.steady.front()].host.begin,
                        steps.all[steps.steady.back()].next};
  const auto inside =
      std::count_if(trace.calls.start.begin(), trace.calls.start.end(),
                    [&](TimeNs start) { return start >= steady.begin && start < steady.end; });
  return static_cast<double>(inside) / static_cast<double>(steps.steady.size());
}

/// CUPTI's records lengthen calls: by 2.7 µs in a loop of launches, 9.7 µs in a step of PyTorch (docs/design/0083-first-gpu-run.md).
void add_cost_of_calls(const Trace& trace, const Analysis& analysis, double host, DurationNs step,
                       std::vector<Doubt>& doubts) {
  constexpr DurationNs kLeast{3'000};
  constexpr DurationNs kMost{10'000};
  constexpr double kMuch = 0.05;
  if (!trace.meta_value(trace::meta::kCuda).starts_with("on:")) return;
  if (analysis.step_options.unrecorded.ns > 0) return;
  const double calls = calls_per_step(trace, analysis.steps);
  const auto cost = [&](DurationNs one) { return DurationNs{std::llround(calls * one.ns)}; };
  if (host < kMuch || ratio(cost(kMost), step) < kMuch) return;
  doubts.push_back(
      {"doubt", fmt::format("Recording slows the host. On an H100 each CUDA call takes 3 to 10 µs "
                            "longer; with {} calls per step that is {} to {} of the {} step. A "
                            "normal run has shorter launch gaps, and fixes of the host gain less. "
                            "With --unrecorded-step TIME (of a run that is not recorded, by the "
                            "program's own clock) predictions are of that run.",
                            format_count(std::llround(calls)), format_duration(cost(kLeast)),
                            format_duration(cost(kMost)), format_duration(step))});
}

void add_unrecorded_step(const Analysis& analysis, std::vector<Doubt>& doubts) {
  const DurationNs unrecorded = analysis.step_options.unrecorded;
  const DurationNs recorded = analysis.step_cost.per_step();
  if (unrecorded.ns <= 0 || recorded.ns <= 0) return;
  const bool measured =
      analysis.steps.unrecorded_share && unrecorded == unrecorded_step(analysis.steps);
  const std::string origin = measured ? "measured by pauses of the recording" : "as given";
  doubts.push_back(
      {"info",
       unrecorded < recorded
           ? fmt::format("A step takes {} recorded and {} unrecorded ({}). Predictions "
                         "leave out what of that is host work; all other times are as recorded.",
                         format_duration(recorded), format_duration(unrecorded), origin)
           : fmt::format("A step takes {} recorded and {} unrecorded ({}): the recording "
                         "did not lengthen it, so nothing is taken away from it.",
                         format_duration(recorded), format_duration(unrecorded), origin)});
}

/// A step with the program's own profiler is not the step that trains without it.
void add_own_profiler(const Trace& trace, const Analysis& analysis, std::vector<Doubt>& doubts) {
  const OwnProfiler profiler = own_profiler(trace, analysis.steps);
  if (profiler.steady == 0) return;
  const std::string options =
      profiler.options.empty() ? "" : fmt::format(" ({})", profiler.options);
  constexpr double kLonger = 1.05;
  if (profiler.without == 0) {
    doubts.push_back({"doubt", fmt::format("The program's own torch.profiler{} runs in all steady "
                                           "steps: without it they are shorter.",
                                           options)});
    return;
  }
  const bool longer = profiler.factor() > kLonger;
  doubts.push_back(
      {longer ? "doubt" : "info",
       fmt::format("The program's own torch.profiler{} runs in {} of {} steady steps: they take "
                   "{} (median), the others {}.",
                   options, profiler.steady, profiler.steady + profiler.without,
                   format_duration(profiler.median), format_duration(profiler.median_without))});
}

/// Findings about the recording itself, and what recording cost the program.
void add_recording(const Trace& trace, const Analysis& analysis, std::vector<Doubt>& doubts) {
  for (const Finding& finding : analysis.findings) {
    if (finding.status == Status::kFound && is_about_recording(finding.rule))
      doubts.push_back({"doubt", finding.claim});
  }
  constexpr double kMuch = 0.05;
  double host = 0;
  DurationNs step;
  for (const DevicePartition& device : analysis.partitions) {
    if (!device.device.valid()) continue;
    const ClassTimes& times = device.per_steady_step;
    host = std::max(
        host, ratio(times[TimeClass::kLaunchGap] + times[TimeClass::kHostOther], times.total()));
    step = std::max(step, times.total());
  }
  add_cost_of_calls(trace, analysis, host, step, doubts);
  add_unrecorded_step(analysis, doubts);
  auto recorded = [&](std::string_view key) {
    std::string name(trace::meta::kKinetoPrefix);
    return trace.meta_value(name.append(key)) == "1";
  };
  if (host < kMuch || !recorded("with_stack")) return;
  doubts.push_back(
      {"doubt",
       fmt::format("The profiler recorded Python stacks (with_stack{}), which slows the host: {} "
                   "of the step is idle time caused by the host, and a normal run has less.",
                   recorded("record_shapes") ? ", record_shapes" : "", format_percent(host))});
}

/// `own`: doubts of the job's critical rank. Adds to each the names of other ranks that share it.
void add_sharing_ranks(const JobAnalysis& job, std::span<Doubt> own) {
  auto has = [](const RankSummary& rank, const Doubt& doubt) {
    return std::any_of(rank.doubts.begin(), rank.doubts.end(), [&](const Doubt& d) {
      return d.severity == doubt.severity && d.text == doubt.text;
    });
  };
  for (Doubt& doubt : own) {
    if (doubt.severity == "info") continue;
    std::vector<std::uint32_t> others;
    for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
      if (r != job.critical && has(job.ranks[r], doubt)) others.push_back(r);
    }
    if (!others.empty()) doubt.text += fmt::format(" (Also on {}.)", rank_list(job, others));
  }
}

int rank(const Doubt& doubt) {
  return doubt.severity == "loss" ? 0 : doubt.severity == "doubt" ? 1 : 2;
}

}  // namespace

std::vector<Doubt> find_doubts(const Trace& trace, const Analysis& analysis) {
  std::vector<Doubt> doubts;
  std::size_t of_job = 0;
  if (analysis.job) {
    doubts = analysis.job->doubts;
    of_job = doubts.size();
  }
  add_cuts(trace, doubts);
  add_scope(trace, doubts);
  for (const AuditResult& result : analysis.audit) {
    const AuditCheck& check = audit_check(result.check);
    std::string time =
        result.time.ns > 0 ? fmt::format(", {}", format_duration(result.time)) : std::string();
    doubts.push_back(
        {std::string(trace::severity_name(check.severity)),
         fmt::format("{} ({}: {}{})", check.text, check.id, format_count(result.count), time)});
  }
  for (const trace::LossCount& loss : trace.losses) {
    doubts.push_back({loss.severity,
                      fmt::format("{} ({}: {})", loss.text, loss.name, format_count(loss.count))});
  }
  add_steps(trace, analysis, doubts);
  add_coverage(trace, analysis, doubts);
  add_recording(trace, analysis, doubts);
  add_own_profiler(trace, analysis, doubts);
  if (analysis.job) add_sharing_ranks(*analysis.job, std::span(doubts).subspan(of_job));
  std::stable_sort(doubts.begin(), doubts.end(),
                   [](const Doubt& a, const Doubt& b) { return rank(a) < rank(b); });
  return doubts;
}

}  // namespace headway::analyzer
