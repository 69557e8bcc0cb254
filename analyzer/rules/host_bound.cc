// SPDX-License-Identifier: MIT
// host-bound: the device waits for host work other than launching.
//
// Symptom: the device idles while its launching thread does other work.
// Mechanism: work on the launching thread (Python, CPU tensors, tokenising, metrics) separates two
//   launches. The device idles unless the queue holds enough work.
// Formula: recoverable = host_other: idle device time before a late-launched op, while its thread
//   was neither launching, nor waiting, nor making input. Loading of device code belongs to
//   module-load, and excess time in some steps to step-outlier and host-pauses. For steps without
//   a device: the thread's time outside modules, backward passes, optimizers and input, from a
//   fifth of the step; it includes losses and metrics.
// Falsified by: a full queue meanwhile (the time is hidden and does not count).
// Known false positives: a profiler that records stacks makes Python slower than it is.
// Source: the split of host time is that of docs/reference/time-classes.md.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/evidence/host_pauses.h"
#include "analyzer/evidence/host_work.h"
#include "analyzer/evidence/idle_overlap.h"
#include "analyzer/evidence/loading.h"
#include "analyzer/evidence/outlier_limit.h"
#include "analyzer/evidence/support.h"
#include "analyzer/partition/sampled_work.h"
#include "analyzer/partition/steady_ops.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

constexpr double kThreadShare = 0.20;

std::string note(const RuleContext& context, const Segment& segment) {
  if (segment.cause.kind == EventRef::Kind::kNone) return "host activity is unknown";
  return fmt::format("the host runs '{}'", name_of(context.trace, segment.cause));
}

/// The thread on which most of the time passes; none if no event shows it.
trace::ThreadId main_thread(const RuleContext& context, const DevicePartition& device) {
  std::map<trace::ThreadId, DurationNs> time;
  for (const DeviceStep& step : device.steps) {
    for (std::uint32_t i = 0; i < step.segment_count; ++i) {
      const Segment& segment = device.segments[step.first_segment + i];
      if (segment.time_class != TimeClass::kHostOther) continue;
      trace::ThreadId thread = thread_of_cause(context.trace, segment.cause);
      if (thread.valid()) time[thread] += segment.interval.length();
    }
  }
  auto most = std::max_element(time.begin(), time.end(),
                               [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == time.end() ? trace::ThreadId::none() : most->first;
}

/// Idle time per steady step while device code is loaded or compiled; it belongs to module-load.
DurationNs loading(const RuleContext& context, const DevicePartition& device) {
  Loading loads = find_loading(context.trace);
  if (loads.intervals.empty()) return {};
  IdleOverlap idle = idle_during(context, std::move(loads.intervals));
  return idle.device == &device ? idle.per_step : DurationNs{};
}

/// Excess time of outlier steps, per steady step; it belongs to step-outlier.
DurationNs in_outliers(const RuleContext& context, const DevicePartition& device) {
  std::vector<double> lengths;
  std::vector<DurationNs> host;
  for (const DeviceStep& step : device.steps) {
    if (!counts(context.steps, step)) continue;
    lengths.push_back(static_cast<double>(step.interval.length().ns));
    host.push_back(step.times[TimeClass::kHostOther]);
  }
  if (lengths.size() < 3) return {};
  const double limit = outlier_limit(lengths);
  std::vector<double> usual;
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (lengths[i] <= limit) usual.push_back(static_cast<double>(host[i].ns));
  }
  const DurationNs typical{static_cast<std::int64_t>(median(usual))};
  DurationNs sum;
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (lengths[i] > limit) sum += std::max(DurationNs{}, host[i] - typical);
  }
  return sum / static_cast<std::int64_t>(host.size());
}

/// Time that some steps have far more of than others, per steady step; it belongs to host-pauses.
DurationNs in_pauses(const RuleContext& context, const DevicePartition& device) {
  const HostPauses pauses = find_host_pauses(context);
  const bool says_so =
      pauses.steps >= HostPauses::kLeastSteps && is_worth_a_finding(context, pauses);
  return says_so && pauses.partition == &device ? pauses.inside : DurationNs{};
}

/// "; 34.1 % of the step in 'CartPoleEnv.step (cartpole.py:171)', from 'main (dqn.py:180)'", for
/// the two functions that take most.
std::string sampled_text(const SampledWorks& sampled, DurationNs step) {
  constexpr std::size_t kNamed = 2;
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, sampled.works.size()); ++i) {
    const SampledWork& work = sampled.works[i];
    if (ratio(work.per_step, step) < kFindingShare && i > 0) break;
    text +=
        fmt::format("{} {}{} in '{}'{}", i ? "," : ";", format_percent(ratio(work.per_step, step)),
                    i ? "" : " of the step", function_text(work),
                    work.from.empty() ? "" : fmt::format(", from '{}'", work.from));
  }
  return text;
}

/// The function or range that takes most, as named in the advice; empty: a profiler has to find it
/// first.
std::string what_to_move(const HostWork& work, const SampledWorks& sampled) {
  if (!work.name.empty()) return fmt::format("'{}'", work.name);
  if (sampled.works.empty()) return "";
  const SampledWork& most = sampled.works.front();
  // The training loop itself cannot be moved away, but one line of it can.
  return most.from.empty() ? fmt::format("the code at {}", most.place)
                           : fmt::format("'{}'", function_text(most));
}

std::vector<Advice> advice(bool on_threads, const std::string& named) {
  const std::string then = named.empty() ? "" : named + ": ";
  const Advice torch =
      !on_threads
          ? Advice{"PyTorch",
                   "Move this work to the device, another thread or process, or do it less "
                   "often. Keep Python out of the launch path.",
                   then + "torch.compile(…), tensors on device='cuda', logging every n steps", ""}
      : named.empty()
          ? Advice{"PyTorch",
                   "Check the loop for logging, metrics, pauses, or waits for other programs. Do "
                   "them less often, or on another thread.",
                   "logging every n steps; py-spy record -- python3 train.py", ""}
          : Advice{"PyTorch", "Do this work less often, or on another thread or process.",
                   then + "every n steps, or in a worker", ""};
  return {torch,
          {"TensorFlow/JAX", "Move this work into the compiled program, or do it every n steps.",
           then + "jax.jit over the whole step, tf.function", ""}};
}

/// For steps without a device: the share of the thread with most time outside ranges.
ClassShare worst_thread(const RuleContext& context) {
  ClassShare worst;
  for (const DevicePartition& thread : context.partitions) {
    const ClassTimes& times = thread.per_steady_step;
    if (thread.device.valid() || thread.steady_steps == 0 ||
        times[TimeClass::kComputeOther].ns == 0)
      continue;
    ClassShare share{&thread, times[TimeClass::kHostOther], times.total()};
    if (!worst.device || share.share() > worst.share()) worst = share;
  }
  return worst;
}

Finding check(const Rule& rule, const RuleContext& context) {
  ClassShare host = worst_share(context, {TimeClass::kHostOther});
  const bool on_threads = !host.device;
  if (on_threads) host = worst_thread(context);
  if (!host.device) return cannot_tell(rule, "No steady step has work on a device.");
  if (!on_threads && context.trace.calls.size() == 0)
    return cannot_tell(rule, "The trace has no launch calls; record with CUDA calls enabled.");
  host.time = std::max(DurationNs{}, host.time - loading(context, *host.device) -
                                         std::max(in_outliers(context, *host.device),
                                                  in_pauses(context, *host.device)));
  const std::string time = of_step(context, host.time, host.step);
  if (host.share() < (on_threads ? kThreadShare : kFindingShare)) {
    return fine(rule, on_threads ? fmt::format("Training thread outside all ranges: {}.", time)
                                 : fmt::format("Idle during other host work: {}.", time));
  }
  const HostWork work =
      dominant_work(context, main_thread(context, *host.device),
                    steady_intervals(context, *host.device, {TimeClass::kHostOther}));
  Finding finding = found(rule, host.time, context);
  const SampledWorks sampled = sampled_works(context.trace, context.steps, *host.device);
  const HostStop stop = host_stop(context.trace, context.steps, *host.device);
  const bool stops = ratio(stop.typical, host.step) >= kFindingShare;
  std::string named = !work.name.empty() ? fmt::format("; '{}' accounts for {} of that time",
                                                       work.name, format_percent(work.share))
                                         : sampled_text(sampled, host.step);
  if (named.empty() && stops) {
    named = "; nearly all in one stretch of each step";
    if (!stop.next.empty()) named += fmt::format(", before '{}'", stop.next);
  }
  finding.claim =
      on_threads
          ? fmt::format(
                "On {}, {} are spent outside modules, backward passes, optimizers and input{}.",
                partition_label(context.trace, *host.device), time, named)
          : fmt::format("The device waits {} for host work other than launching and input{}.", time,
                        named);
  finding.confidence = named.empty() ? 0.5 : 0.8;
  finding.evidence = longest_segments(context, *host.device, {TimeClass::kHostOther}, note);
  if (!work.name.empty())
    finding.evidence.insert(finding.evidence.begin(),
                            {interval_of(context.trace, work.event), work.event,
                             fmt::format("'{}', its longest call", work.name)});
  finding.advice = advice(on_threads, what_to_move(work, sampled));
  return finding;
}

}  // namespace

extern const Rule kHostBound = {
    "host-bound", "Host-bound",
    "The device idles for over 5 % of the step during other work of the launching thread.", check};

}  // namespace headway::analyzer
