// SPDX-License-Identifier: MIT
// input-bound: the device waits for the next batch.
//
// Symptom: the device idles at the start of steps while the training thread waits for the loader.
// Mechanism: making a batch (read, decode, augment, collate) takes longer than a step, over all workers.
// Formula: recoverable = io_read + decode + input_other per step: idle time whose binding
//   constraint is an op launched after an input wait. The sub-cause is the stage of the worker
//   that made the awaited batch. On the training thread, a loader range or the work before a copy
//   to the device shows it; the sub-cause is then own-thread for every stage, because workers are
//   the remedy for all.
// Falsified by: a device that is busy during the waits (they are hidden and do not count).
// Known false positives: a first epoch that fills the page cache; it is dropped as warm-up.
// Source: the 5 %/20 % thresholds are those of the TensorFlow profiler's input-pipeline analysis.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/evidence/host_work.h"
#include "analyzer/evidence/input_names.h"
#include "analyzer/evidence/loader.h"
#include "analyzer/evidence/support.h"
#include "analyzer/partition/steady_ops.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

constexpr double kSevereShare = 0.20;

std::string note(const RuleContext& context, const Segment& segment) {
  std::string_view doing = segment.time_class == TimeClass::kIoRead   ? "reads"
                           : segment.time_class == TimeClass::kDecode ? "decodes"
                                                                      : "";
  if (segment.cause.kind != EventRef::Kind::kRange) return "the training thread waits for input";
  trace::RangeId range{segment.cause.index};
  const trace::RangeInfo* info = context.trace.info(range);
  const bool waits = info && info->kind == trace::RangeKind::kInputWait;
  if (doing.empty())
    return waits ? std::string("the training thread waits for input")
                 : fmt::format("the launching thread is in '{}'",
                               name_of(context.trace, segment.cause));
  std::string text = fmt::format(
      "{} {}", thread_label(context.trace, context.trace.ranges.thread[range.value]), doing);
  return info && info->batch >= 0 ? fmt::format("{} for batch {}", text, info->batch) : text;
}

std::vector<Advice> advice(const RuleContext& context, TimeClass cause) {
  const trace::Trace& trace = context.trace;
  std::vector<Advice> list;
  auto add = [&](std::string framework, std::string text, std::string knob,
                 std::string current = "") {
    list.push_back({std::move(framework), std::move(text), std::move(knob), std::move(current)});
  };
  if (cause == TimeClass::kIoRead) {
    add("headway-train",
        "Read packed shards instead of one file per image: each open and small read costs storage "
        "latency.",
        "--source shards", settings(trace, {"source"}));
    add("PyTorch",
        "Pack samples into shards and read them in order. Keep them on local NVMe or in the page "
        "cache.",
        "webdataset.WebDataset(…) or torchdata, instead of ImageFolder");
    add("TensorFlow/JAX", "Read TFRecord shards with parallel interleave.",
        "tf.data.TFRecordDataset(…).interleave(…, num_parallel_calls=tf.data.AUTOTUNE)");
  } else if (cause == TimeClass::kDecode) {
    add("headway-train", "Decode once, offline, and train from decoded shards.", "--source shards",
        settings(trace, {"source"}));
    add("headway-train",
        "Move resizing, augmenting and the second half of JPEG decoding to the device.",
        "--augment-on device --decode device", settings(trace, {"augment_on", "decode"}));
    add("PyTorch",
        "Decode offline or on the GPU (DALI, torchvision.io.decode_jpeg(device='cuda')).",
        "nvidia.dali.fn.decoders.image(device='mixed')");
    add("TensorFlow/JAX", "Decode in parallel, and cache decoded samples if they fit.",
        "dataset.map(decode, num_parallel_calls=tf.data.AUTOTUNE).cache()");
  }
  if (cause == TimeClass::kInputOther) {
    add("PyTorch",
        "Each batch from a worker costs a message and one connection per tensor. Make small "
        "batches on the training thread, pass fewer and larger tensors, and start workers once.",
        "DataLoader(num_workers=0), or persistent_workers=True and one tensor for all fields",
        std::string(trace.setting("DataLoader")));
  }
  add("headway-train", "More workers make more batches at once; more prefetch hides slow ones.",
      "--workers N --prefetch N", settings(trace, {"workers", "prefetch"}));
  add("PyTorch",
      "Use more workers (up to the number of cores minus one), persistent and prefetching.",
      "DataLoader(num_workers=…, prefetch_factor=4, persistent_workers=True, pin_memory=True)",
      std::string(trace.setting("DataLoader")));
  add("TensorFlow/JAX", "Prefetch, so that batches are made during the step.",
      "dataset.prefetch(tf.data.AUTOTUNE); keras.utils.PyDataset(workers=…, "
      "use_multiprocessing=True)");
  return list;
}

bool is_stage(trace::RangeKind kind) {
  return kind == trace::RangeKind::kRead || kind == trace::RangeKind::kDecode ||
         kind == trace::RangeKind::kAugment || kind == trace::RangeKind::kCollate;
}

std::vector<Advice> advice_for_own_thread(const RuleContext& context, bool loader) {
  std::vector<Advice> list;
  if (loader && is_in_memory(context.trace))
    list.push_back({"PyTorch",
                    "The samples are in memory already: take whole batches of them instead of "
                    "single samples that are collated.",
                    "x[indices] of whole tensors, or DataLoader(dataset, batch_size=None, "
                    "sampler=BatchSampler(RandomSampler(dataset), n, False))",
                    ""});
  list.push_back({"headway-train", "Use workers to make batches during the step.",
                  "--workers N --prefetch N", settings(context.trace, {"workers", "prefetch"})});
  if (loader || !context.program.is_inference())
    list.push_back({"PyTorch", "A worker process makes the next batch during the device's step.",
                    "DataLoader(num_workers=1 or more, persistent_workers=True, pin_memory=True)",
                    loader ? "num_workers=0" : std::string(context.trace.setting("DataLoader"))});
  else
    list.push_back({"PyTorch",
                    "Prepare the next input on another thread or process during the step, or "
                    "prepare it on the device.",
                    "DataLoader(num_workers=1 or more), torchvision.transforms.v2 on "
                    "device='cuda', image processors with use_fast=True",
                    ""});
  list.push_back({"TensorFlow/JAX", "Prefetch, so that batches are made during the step.",
                  "dataset.map(…, num_parallel_calls=tf.data.AUTOTUNE)"
                  ".prefetch(tf.data.AUTOTUNE)",
                  ""});
  return list;
}

/// Idle time per steady step in which neither a call nor a range within the step shows what the
/// host did.
DurationNs unexplained_time(const RuleContext& context, const DevicePartition& device) {
  std::vector<bool> is_step(context.trace.ranges.size());
  for (const Step& step : context.steps.all) {
    if (step.range.valid()) is_step[step.range.value] = true;
  }
  auto says_something = [&](EventRef cause) {
    if (cause.kind != EventRef::Kind::kRange) return cause.kind != EventRef::Kind::kNone;
    const trace::RangeInfo* info = context.trace.info(trace::RangeId{cause.index});
    bool frame =
        info && (info->kind == trace::RangeKind::kStep || info->kind == trace::RangeKind::kPhase);
    return !frame && !is_step[cause.index];
  };
  DurationNs time;
  for (const DeviceStep& step : device.steps) {
    if (!counts(context.steps, step)) continue;
    for (std::uint32_t i = 0; i < step.segment_count; ++i) {
      const Segment& segment = device.segments[step.first_segment + i];
      bool host = segment.time_class == TimeClass::kLaunchGap ||
                  segment.time_class == TimeClass::kHostOther ||
                  segment.time_class == TimeClass::kBetweenSteps;
      if (segment.time_class == TimeClass::kUnknown || (host && !says_something(segment.cause)))
        time += segment.interval.length();
    }
  }
  return device.steady_steps ? time / device.steady_steps : time;
}

bool says_where_it_waits(const trace::Trace& trace) {
  return std::any_of(trace.range_info.begin(), trace.range_info.end(),
                     [](const trace::RangeInfo& info) {
                       return info.kind == trace::RangeKind::kInputWait;
                     }) ||
         names_an_input_wait(trace);
}

/// The part of the input time in which the training thread makes batches itself.
struct OwnWork {
  DurationNs time;  ///< per step
  HostWork work;
  bool from_loader = false;  ///< a loader without workers
};

/// True if the range is part of a batch that its own thread makes.
bool is_made_here(const trace::Trace& trace, trace::RangeId range) {
  for (; range.valid(); range = trace.ranges.parent[range.value]) {
    const trace::RangeInfo* info = trace.info(range);
    if (info && (info->kind == trace::RangeKind::kBatch || is_stage(info->kind))) return true;
    if (loads_where_it_waits(trace.strings[trace.ranges.name[range.value]])) return true;
  }
  return false;
}

OwnWork own_work(const RuleContext& context, const DevicePartition& device) {
  const trace::Trace& trace = context.trace;
  OwnWork own;
  const bool any_loader = loads_on_training_thread(trace);
  const std::vector<bool> trains = training_threads(context);
  std::vector<Interval> intervals;
  trace::ThreadId thread;
  for (const DeviceStep& step : device.steps) {
    if (!counts(context.steps, step)) continue;
    for (std::uint32_t i = 0; i < step.segment_count; ++i) {
      const Segment& segment = device.segments[step.first_segment + i];
      if (info(segment.time_class).group != TimeGroup::kInput ||
          segment.cause.kind != EventRef::Kind::kRange)
        continue;
      const trace::RangeId range{segment.cause.index};
      // Another loader of the program, for example that of the evaluation, may have no workers.
      const bool here = is_made_here(trace, range);
      if (!trains[trace.ranges.thread[range.value].value] ||
          (context.attribution.contexts[range.value].input_wait && !here))
        continue;
      own.from_loader = own.from_loader || (here && any_loader);
      thread = trace.ranges.thread[range.value];
      own.time += segment.interval.length();
      if (!intervals.empty() && intervals.back().end == segment.interval.begin)
        intervals.back().end = segment.interval.end;
      else
        intervals.push_back(segment.interval);
    }
  }
  if (device.steady_steps) own.time = own.time / device.steady_steps;
  if (thread.valid()) own.work = dominant_work(context, thread, intervals);
  return own;
}

/// The stage that takes most of the waits; the wait itself if the workers' stages are not known.
std::pair<TimeClass, std::string_view> main_cause(const RuleContext& context,
                                                  const ClassTimes& times) {
  static constexpr std::array<std::pair<TimeClass, std::string_view>, 3> kCauses = {
      {{TimeClass::kIoRead, "read"},
       {TimeClass::kDecode, "decode"},
       {TimeClass::kInputOther, "hand-over"}}};
  auto cause = *std::max_element(kCauses.begin(), kCauses.end(), [&](const auto& a, const auto& b) {
    return times[a.first] < times[b.first];
  });
  if (cause.first != TimeClass::kInputOther) return cause;
  LoaderWork work = loader_work(context);
  bool seen = !work.workers.empty() || work.on_training_thread;
  return {cause.first, seen ? "hand-over" : "unseen"};
}

/// What happens during the waits; stages without time are left out.
std::string while_it_waits(const ClassTimes& times) {
  static constexpr std::array<std::pair<TimeClass, std::string_view>, 3> kMeanwhile = {
      {{TimeClass::kIoRead, "while {} reads"},
       {TimeClass::kDecode, "while {} decodes or augments"},
       {TimeClass::kInputOther, "while no thread makes the batch (handover, or not begun)"}}};
  std::string text;
  for (const auto& [its, words] : kMeanwhile) {
    if (times[its].ns <= 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", format_duration(times[its]),
                        fmt::format(fmt::runtime(words), text.empty() ? "the worker" : "it"));
  }
  return text;
}

Finding check(const Rule& rule, const RuleContext& context) {
  ClassShare input =
      worst_share(context, {TimeClass::kIoRead, TimeClass::kDecode, TimeClass::kInputOther});
  if (!input.device)
    return cannot_tell(rule,
                       "No steady step has work on a device, so there is no idle time to explain.");
  const ClassTimes& times = input.device->per_steady_step;
  if (input.share() < kFindingShare) {
    DurationNs unexplained = unexplained_time(context, *input.device);
    bool evidence = input.time.ns > 0 || says_where_it_waits(context.trace);
    // Without any sign of where the program waits for input, its waits would count in the host's
    // classes.
    if (!evidence && ratio(unexplained, input.step) >= kFindingShare) {
      return cannot_tell(
          rule,
          fmt::format("{} of the step is idle for host reasons, and no range marks input waits. "
                      "Mark the wait (docs/reference/nvtx-conventions.md) and record again.",
                      format_percent(ratio(unexplained, input.step))));
    }
    return fine(rule, fmt::format("Input wait: {}.", of_step(context, input.time, input.step)));
  }
  auto cause = main_cause(context, times);
  const OwnWork own = own_work(context, *input.device);
  const bool on_own_thread = own.time * 2 > input.time;
  Finding finding = found(rule, input.time, context);
  finding.sub_cause = on_own_thread ? "own-thread" : std::string(cause.second);
  finding.claim = fmt::format(
      "The {} waits for input {}{}", input.device->device.valid() ? "device" : "training thread",
      of_step(context, input.time, input.step), input.share() >= kSevereShare ? ". Severe:" : ":");
  if (on_own_thread)
    finding.claim += fmt::format(" {} makes the batches itself{}.",
                                 input.device->device.valid() ? "the thread that launches" : "it",
                                 own.work.name.empty()
                                     ? std::string()
                                     : fmt::format(", {} of that time in '{}'",
                                                   format_percent(own.work.share), own.work.name));
  else
    finding.claim += cause.second == "unseen"
                         ? std::string(" the loader's activity is not recorded.")
                         : " " + while_it_waits(times) + ".";
  // Time with a recorded stage of the worker is evidence; the rest is inferred from the wait alone.
  finding.confidence =
      0.6 + 0.4 * ratio(times[TimeClass::kIoRead] + times[TimeClass::kDecode], input.time);
  finding.evidence =
      longest_segments(context, *input.device,
                       {TimeClass::kIoRead, TimeClass::kDecode, TimeClass::kInputOther}, note);
  if (on_own_thread) {
    finding.confidence = std::max(finding.confidence, own.from_loader ? 0.95 : 0.8);
    if (!own.work.name.empty())
      finding.evidence.insert(finding.evidence.begin(),
                              {interval_of(context.trace, own.work.event), own.work.event,
                               fmt::format("'{}' on the thread that launches", own.work.name)});
  }
  finding.advice = on_own_thread ? advice_for_own_thread(context, own.from_loader)
                                 : advice(context, cause.first);
  return finding;
}

}  // namespace

extern const Rule kInputBound = {
    "input-bound", "Input-bound",
    "Waiting for the next batch keeps the device idle for over 5 % of the step.", check};

}  // namespace headway::analyzer
