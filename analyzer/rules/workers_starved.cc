// SPDX-License-Identifier: MIT
// workers-starved: too few workers make batches while processors are idle.
//
// Symptom: the device waits for input, and the machine has idle processors.
// Mechanism: n workers make n batches in the time of one. More workers on idle processors make
//   batches more often.
// Formula: recoverable = input wait - max(0, t/n' - (step - input wait)), with t a worker's time
//   per batch and n' the workers that hide batch making within the available processors (a
//   training thread needs one except while waiting for a batch). t/n' is at least the batch's
//   share of the storage transfer, which all workers use (storage_model.h). Without t: input wait
//   x the idle share of the processors.
// Falsified by: busy processors (then workers-oversubscribed, or less work per sample), workers
//   that all wait for one saturated disk (slow-storage), or workers as fast as the steps (some
//   steps then wait for another reason: step-outlier).
// Known false positives: a container's processor quota that the machine's figures do not show.
// Source: loader workers against processors is what every framework's input guide tunes first.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyzer/evidence/counters.h"
#include "analyzer/evidence/input_names.h"
#include "analyzer/evidence/loader.h"
#include "analyzer/evidence/storage_model.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// A busier machine has no processors left for another worker.
constexpr double kBusyMachine = 75;  // %
/// If the storage is loaded this much, more workers do not make batches faster.
constexpr double kFullLoad = 0.95;

struct Estimate {
  std::int64_t workers = -1;  ///< now; -1 unknown
  std::int64_t possible = 0;  ///< that are needed and fit; 0 unknown
  bool enough = false;        ///< the present ones make batches as fast as steps take them
  bool storage = false;       ///< they already read as fast as the storage delivers
  DurationNs recoverable;
};

std::string note(const RuleContext& context, const Segment& segment) {
  return segment.cause.kind == EventRef::Kind::kRange
             ? fmt::format("waits during '{}'", name_of(context.trace, segment.cause))
             : std::string("waits for a batch");
}

DurationNs scaled(DurationNs time, double factor) {
  return {static_cast<std::int64_t>(static_cast<double>(time.ns) * factor)};
}

/// What more workers would save. `making`: time to make all batches of a step on one worker;
/// `turn`: time of a batch in the storage's shared transfer; `idle`: idle share of the machine, if
/// it was sampled.
Estimate estimate(const ClassShare& input, const LoaderWork& work, DurationNs making,
                  DurationNs turn, const WorkerRoom& room, std::optional<double> idle) {
  Estimate result;
  if (!work.workers.empty()) result.workers = static_cast<std::int64_t>(work.at_once);
  result.possible = room.workers;
  DurationNs rest = input.step - input.time;
  if (result.workers > 0 && idle && *idle > 0) {
    // Idle processors limit what more workers can use, however many processors there are.
    auto idle_enough = static_cast<std::int64_t>(static_cast<double>(result.workers) /
                                                 (1 - std::min(*idle, 0.98)));
    result.possible = result.possible ? std::min(result.possible, idle_enough) : idle_enough;
  }
  if (result.workers > 0 && work.per_batch.ns > 0) {
    // Beyond what the storage serves, workers wait for each other.
    const DurationNs turns = scaled(making, ratio(turn, work.per_batch));
    const std::int64_t needed = workers_needed(making, std::max(turns, rest));
    result.enough = needed <= result.workers;
    result.possible = std::min(result.possible, needed);
  }
  if (result.workers > 0 && result.possible > result.workers) {
    const bool known = work.per_batch.ns > 0;
    if (!known) making = input.step * result.workers;
    const DurationNs turns = known ? scaled(making, ratio(turn, work.per_batch)) : turn;
    const DurationNs pace = std::max({turns, making / result.possible, room.step});
    result.storage = turns >= scaled(making / result.workers, kFullLoad);
    result.recoverable = input.time - std::max(DurationNs{0}, pace - rest);
  } else if (result.workers < 0 && idle) {
    result.recoverable = scaled(input.time, *idle);
  }
  result.recoverable = std::clamp(result.recoverable, DurationNs{0}, input.time);
  return result;
}

/// Time of a batch's reads in the transfer that all readers share; zero if reads show no limit.
DurationNs turn_of_batch(const RuleContext& context) {
  const TimeNs since = context.steps.warm_from();
  const StorageModel storage = storage_model(context.trace, since);
  if (!storage.shared()) return {};
  return storage.turns / std::max<std::int64_t>(1, batches_made(context.trace, since));
}

/// True if reading is most of the wait and the disks always deliver near their highest rate.
bool disk_is_the_limit(const RuleContext& context, const DevicePartition& device) {
  constexpr double kSaturated = 0.8;
  const ClassTimes& times = device.per_steady_step;
  DurationNs other = times[TimeClass::kDecode] + times[TimeClass::kInputOther];
  auto disk = counters::steady(context, counters::kMachineDiskRead);
  return times[TimeClass::kIoRead] > other && disk && disk->high > 0 &&
         disk->mean >= kSaturated * disk->high;
}

Finding say(const Rule& rule, const RuleContext& context, const ClassShare& input,
            DurationNs recoverable, std::string claim, double confidence) {
  Finding finding = found(rule, recoverable, context);
  finding.claim = std::move(claim);
  finding.confidence = confidence;
  finding.evidence =
      longest_segments(context, *input.device,
                       {TimeClass::kIoRead, TimeClass::kDecode, TimeClass::kInputOther}, note);
  finding.advice = {
      {"headway-train", "More workers make more batches at once while processors are idle.",
       "--workers N", settings(context.trace, {"workers"})},
      {"PyTorch", "Use more persistent worker processes while processors are idle.",
       "DataLoader(num_workers=…, persistent_workers=True, prefetch_factor=4)",
       settings(context.trace, {"num_workers"})},
      {"TensorFlow/JAX", "Let the input pipeline use all processors.",
       "dataset.map(…, num_parallel_calls=tf.data.AUTOTUNE)", ""}};
  return finding;
}

/// True if there are no workers at all. That is not this rule's case: input-bound says what the
/// first worker would gain.
bool loads_alone(const RuleContext& context, const LoaderWork& work) {
  return work.workers.empty() &&
         (work.on_training_thread || loads_on_training_thread(context.trace));
}

/// Why more workers cannot be judged, or would gain nothing whatever their number.
std::optional<Finding> no_case_for_more(const Rule& rule, const RuleContext& context,
                                        const ClassShare& input, const LoaderWork& work) {
  auto cpu = counters::steady(context, counters::kMachineCpu);
  if (cpu && cpu->mean >= kBusyMachine) {
    return fine(rule, fmt::format("The processors are {:.0f} % busy: no room for more workers.",
                                  cpu->mean));
  }
  if (!cpu && (processor_count(context.trace) == 0 || work.workers.empty())) {
    return cannot_tell(rule,
                       "The device waits for input, but processor use is unknown. Record with "
                       "`headway record`, which samples machine.cpu, and mark the loader stages "
                       "(docs/reference/nvtx-conventions.md).");
  }
  if (disk_is_the_limit(context, *input.device)) {
    return fine(
        rule,
        "The workers wait for a saturated disk: more workers would share the same bandwidth.");
  }
  return std::nullopt;
}

Finding check(const Rule& rule, const RuleContext& context) {
  ClassShare input =
      worst_share(context, {TimeClass::kIoRead, TimeClass::kDecode, TimeClass::kInputOther});
  if (!input.device) return cannot_tell(rule, "No steady step has work on a device.");
  if (input.share() < kFindingShare) {
    return fine(rule, fmt::format("Input wait: {}; more workers gain nothing.",
                                  of_step(context, input.time, input.step)));
  }
  LoaderWork work = loader_work(context);
  if (loads_alone(context, work))
    return fine(rule, "No workers: the training thread makes the batches.");
  if (auto answer = no_case_for_more(rule, context, input, work)) return *std::move(answer);
  auto cpu = counters::steady(context, counters::kMachineCpu);
  std::optional<double> idle;
  if (cpu) idle = 1 - cpu->mean / 100;
  const DurationNs making =
      scaled(input.step, work.making / static_cast<double>(trainers_in(context.trace)));
  const WorkerRoom room = room_for_workers(context, input.step - input.time, making);
  Estimate more = estimate(input, work, making, turn_of_batch(context), room, idle);
  bool counted = more.workers > 0;
  if (more.storage)
    return fine(
        rule,
        fmt::format("{} workers already saturate the storage: more would share the same bandwidth.",
                    more.workers));
  if (more.enough)
    return fine(rule, fmt::format("A worker takes {} for a batch, and there are as many as steps "
                                  "need ({}); some steps wait for another reason.",
                                  format_duration(work.per_batch), more.workers));
  if (ratio(more.recoverable, input.step) < kFindingShare) {
    return fine(
        rule,
        counted ? fmt::format("{} workers run; with one processor each, {} would fit and gain {}.",
                              more.workers, std::max(more.possible, more.workers),
                              of_step(context, more.recoverable, input.step))
                : std::string("The processors have no room for more workers."));
  }
  std::string claim =
      fmt::format("The device waits for input {}", of_step(context, input.time, input.step));
  if (counted)
    claim += more.workers == 1 ? std::string("; one worker makes the batches")
                               : fmt::format("; {} workers make the batches", more.workers);
  if (cpu) claim += fmt::format(", and the processors are {:.0f} % busy", cpu->mean);
  if (counted)
    claim += fmt::format(". With {} workers {} could go", more.possible,
                         format_duration(more.recoverable));
  return say(rule, context, input, more.recoverable, claim + ".", cpu && counted ? 0.8 : 0.6);
}

}  // namespace

extern const Rule kWorkersStarved = {
    "workers-starved", "Too few workers",
    "The device waits for input and processors are idle, for over 5 % of the step.", check};

}  // namespace headway::analyzer
