// SPDX-License-Identifier: MIT
// long-startup: fetching data dominates the time before the first step.
//
// Symptom: a long time before the first step, mostly spent on reading or copying.
// Mechanism: the whole data set is downloaded, unpacked or loaded instead of streamed; every
//   restart repeats it.
// Formula: f = time before the first step with reads (read ranges; samples with at least a quarter
//   of the peak read rate and under half a processor) or copies to the device. Fires if f is more
//   than half of the startup and more than 10 steps. Recoverable = f divided by the steps of the
//   recording, at least 1 000, because a startup is paid once and runs are longer than recordings.
// Falsified by: a startup spent on computing (imports, compiling, building the model).
// Known false positives: the first read into a cache that is warm for later runs.
// Source: time to first batch in the input pipelines' guides; restarts of large jobs pay it each time.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/evidence/counters.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"
#include "common/interval_set.h"

namespace headway::analyzer {
namespace {

constexpr std::int64_t kMinSteps = 10;        ///< of time spent fetching
constexpr std::int64_t kAssumedSteps = 1000;  ///< of a real run
constexpr double kFetchingShare = 0.5;
constexpr double kPartOfPeak = 0.25;
constexpr double kHalfProcessor = 50;  // %

/// From the start of the training process, or the first event, to the first step.
Interval startup_of(const RuleContext& context) {
  const trace::Trace& trace = context.trace;
  const Step& first = context.steps.all.front();
  const trace::Process& process = trace.processes[trace.threads[first.thread.value].process.value];
  TimeNs begin = first.host.begin;
  for (const auto* starts : {&trace.ranges.start, &trace.calls.start, &trace.device_ops.start}) {
    if (!starts->empty()) begin = std::min(begin, starts->front());
  }
  if (process.injected) begin = std::min(begin, process.start);  // other starts are not known
  return {begin, first.host.begin};
}

/// Times between samples in which the process mainly reads.
void add_sampled_reads(const RuleContext& context, Interval startup, std::vector<Interval>& out) {
  const trace::CounterSeries* reads = counters::find(context.trace, counters::kProcessReadBytes);
  const trace::CounterSeries* cpu = counters::find(context.trace, counters::kProcessCpu);
  if (!reads) return;
  double peak = counters::summarise(*reads, startup).high;
  for (std::size_t i = 1; i < reads->time.size() && reads->time[i] <= startup.end; ++i) {
    if (peak <= 0 || reads->value[i] < kPartOfPeak * peak) continue;
    Interval before{reads->time[i - 1], reads->time[i]};
    // A rate holds for the time up to its sample.
    bool computes = false;
    if (cpu) {
      counters::Summary used =
          counters::summarise(*cpu, {before.begin + DurationNs{1}, before.end + DurationNs{1}});
      computes = used.count > 0 && used.mean >= kHalfProcessor;
    }
    if (!computes) out.push_back(before);
  }
}

bool copies_in(trace::DeviceOpKind kind) {
  return kind == trace::DeviceOpKind::kCopyHostToDevice ||
         kind == trace::DeviceOpKind::kCopyHostToHost;
}

struct Fetching {
  IntervalSet all;
  DurationNs reading;
  bool known = false;  ///< reads or copies of the program were recorded
};

Fetching fetching_in(const RuleContext& context, Interval startup) {
  const trace::Trace& trace = context.trace;
  std::vector<Interval> reads;
  add_sampled_reads(context, startup, reads);
  Fetching result;
  result.known = counters::find(trace, counters::kProcessReadBytes) != nullptr;
  for (std::uint32_t i = 0; i < trace.ranges.size() && trace.ranges.start[i] < startup.end; ++i) {
    const trace::RangeInfo* info = trace.info(trace::RangeId{i});
    if (info && info->kind == trace::RangeKind::kRead)
      reads.push_back(trace.ranges.interval(trace::RangeId{i}));
  }
  std::vector<Interval> all = reads;
  const trace::DeviceOps& ops = trace.device_ops;
  for (std::uint32_t i = 0; i < ops.size() && ops.start[i] < startup.end; ++i) {
    if (copies_in(ops.kind[i])) all.push_back(ops.interval(trace::DeviceOpId{i}));
  }
  result.known = result.known || !all.empty();
  result.all = clip(IntervalSet::from_unsorted(std::move(all)), startup);
  result.reading = clip(IntervalSet::from_unsorted(std::move(reads)), startup).total();
  return result;
}

std::vector<Evidence> evidence(const Fetching& fetching) {
  std::vector<Interval> pieces(fetching.all.intervals().begin(), fetching.all.intervals().end());
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](Interval a, Interval b) { return a.length() > b.length(); });
  std::vector<Evidence> list;
  for (std::size_t i = 0; i < std::min<std::size_t>(pieces.size(), 8); ++i)
    list.push_back({pieces[i], {}, "reading or copying data before the first step"});
  return list;
}

Finding check(const Rule& rule, const RuleContext& context) {
  if (context.steps.all.empty() || context.step.ns <= 0) {
    return cannot_tell(rule,
                       "The trace has no steps, so the start of training is unknown; name the step "
                       "ranges with --step-range.");
  }
  Interval startup = startup_of(context);
  if (startup.length() < context.step * kMinSteps) {
    return fine(rule, fmt::format("The first step begins {} into the recording.",
                                  format_duration(startup.length())));
  }
  Fetching fetching = fetching_in(context, startup);
  if (!fetching.known) {
    return cannot_tell(
        rule, fmt::format("The first step begins after {}, and the activity before it is not "
                          "recorded. Record with `headway record`, which samples file reads.",
                          format_duration(startup.length())));
  }
  DurationNs time = fetching.all.total();
  if (ratio(time, startup.length()) < kFetchingShare || time < context.step * kMinSteps) {
    return fine(rule, fmt::format("{} before the first step; {} of it read or copy data.",
                                  format_duration(startup.length()), format_duration(time)));
  }
  auto steps = static_cast<std::int64_t>(context.steps.all.size());
  Finding finding = found(rule, time / std::max(steps, kAssumedSteps), context);
  finding.sub_cause = fetching.reading * 2 >= time ? "read" : "copy";
  finding.claim = fmt::format(
      "{} of the {} before the first step read or copy data: as long as {} steps. Every start of "
      "the program costs this. Per-step figures divide it by {} steps.",
      format_duration(time), format_duration(startup.length()), time.ns / context.step.ns,
      std::max(steps, kAssumedSteps));
  finding.confidence = 0.75;
  finding.evidence = evidence(fetching);
  finding.advice = {
      {"headway-train", "Read shards during training instead of loading the data set first.",
       "--source shards", settings(context.trace, {"source"})},
      {"PyTorch", "Stream the data, or keep a local copy between runs.",
       "torch.utils.data.IterableDataset, webdataset, datasets.load_dataset(…, streaming=True)",
       ""},
      {"TensorFlow/JAX", "Stream records from storage; cache on local disk.",
       "tf.data.TFRecordDataset(…).prefetch(tf.data.AUTOTUNE), cache(FILE)", ""}};
  return finding;
}

}  // namespace

extern const Rule kLongStartup = {
    "long-startup",
    "Long startup",
    "Reading or copying data fills more than half of the startup, and lasts longer than ten steps.",
    check,
    false,
    "one-off cost before the first step; predictions cover steps, so the gain per run is this "
    "whole time"};

}  // namespace headway::analyzer
