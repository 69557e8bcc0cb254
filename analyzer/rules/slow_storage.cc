// SPDX-License-Identifier: MIT
// slow-storage: the storage does not deliver the bytes fast enough.
//
// Symptom: the device waits for reads; more readers do not bring more bytes.
// Mechanism: a step's bytes at the storage's rate take longer than the step. More workers or
//   larger files do not help.
// Formula: the model of the storage (storage_model.h) says how much of a read is its own time and how
//   much its turn at the transfer that all readers share; recoverable = io_read x the share of the turn.
//   Where reads show no such limit, the turn is what the bytes take at the best rate of a read of 64 KiB
//   and more; then it fires only when reads bring 1 MB on average or the turn is half of the time.
//   From 5 % of the step. Where calls on files show that one read at a time keeps the storage busy for 95 % of the time,
//   all waits for input count, whatever the worker does meanwhile.
// Falsified by: reads that take equally long however many are open; reads at 2 GB/s per worker and
//   more, which is the pace of memory; a second epoch from the page cache that runs at full speed (then
//   memory or a local copy is the remedy), or a disk far below its bandwidth while workers wait for
//   something else.
// Known false positives: a first epoch over a data set that the page cache will hold; readers that share
//   too few processors.
// Source: storage bandwidth against the rate at which accelerators consume samples, as I/O studies of
//   training measure it; the 5 % is that of input-bound.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/evidence/counters.h"
#include "analyzer/evidence/loader.h"
#include "analyzer/evidence/storage_model.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// A disk whose mean rate is this close to its highest is taken to be saturated.
constexpr double kSaturated = 0.8;
/// A storage that serves one read at a time counts as full from this load on.
constexpr double kFull = 0.95;
constexpr std::int64_t kLargeMean = 1'000'000;
/// bytes/s of one reader: more than network file systems and most single disks give one stream.
constexpr std::int64_t kMemoryPace = 2'000'000'000;

std::string note(const RuleContext& context, const Segment& segment) {
  const trace::RangeInfo* info = segment.cause.kind == EventRef::Kind::kRange
                                     ? context.trace.info(trace::RangeId{segment.cause.index})
                                     : nullptr;
  if (info && info->kind != trace::RangeKind::kRead)
    return fmt::format("'{}' of a batch whose read waited", name_of(context.trace, segment.cause));
  if (!info || info->bytes <= 0) return "the worker reads";
  DurationNs time = interval_of(context.trace, segment.cause).length();
  return fmt::format("a read of {} takes {}", format_bytes(info->bytes), format_duration(time));
}

std::vector<Advice> advice(const RuleContext& context) {
  return {{"headway-train",
           "Keep the data on a local NVMe disk, decoded and packed, to read fewer bytes.",
           "--data PATH --source shards", settings(context.trace, {"data", "source"})},
          {"PyTorch",
           "Copy the data to local NVMe before training, decompress in the worker, or cache "
           "samples in memory. Several disks or a parallel file system add bandwidth.",
           "webdataset.WebDataset(…, cache_dir='/local/nvme')", ""},
          {"TensorFlow/JAX",
           "Cache on a local disk after the first epoch, and read several files at once.",
           "dataset.cache('/local/nvme/cache'), interleave(…, cycle_length=16)", ""}};
}

Finding check(const Rule& rule, const RuleContext& context) {
  ClassShare reading = worst_share(context, {TimeClass::kIoRead});
  if (!reading.device) return cannot_tell(rule, "No steady step has work on a device.");
  const Interval window = counters::steady_window(context);
  const ClassShare input =
      worst_share(context, {TimeClass::kIoRead, TimeClass::kDecode, TimeClass::kInputOther});
  if (input.share() < kFindingShare)
    return fine(rule, fmt::format("Read wait: {}.", of_step(context, reading.time, reading.step)));
  const StorageModel storage = busiest_storage(context.trace, context.steps.warm_from(), window);
  // The storage is full, so a worker has waited for it before, whatever it does while its batch is
  // awaited.
  const bool of_all_input = storage.in_turns && storage.load(window) >= kFull;
  if (of_all_input) reading = input;
  if (reading.share() < kFindingShare)
    return fine(rule, fmt::format("Read wait: {}.", of_step(context, reading.time, reading.step)));
  Reads reads = sum_reads(context.trace, context.steps.warm_from());
  if (reads.count == 0) {
    return cannot_tell(rule,
                       "The reads have no sizes. Record again with `headway record --io`, or put "
                       "`bytes` into the payload of the read ranges.");
  }
  DurationNs recoverable{
      static_cast<std::int64_t>(static_cast<double>(reading.time.ns) * (1 - storage.left_if_fast))};
  bool bandwidth = storage.limited() || reads.mean() >= kLargeMean || storage.left_if_fast <= 0.5;
  if (!bandwidth || ratio(recoverable, reading.step) < kFindingShare) {
    return fine(rule,
                fmt::format("Reads bring {} each: their number limits, not storage bandwidth.",
                            format_bytes(reads.mean())));
  }
  auto rate = static_cast<std::int64_t>(static_cast<double>(reads.bytes) /
                                        std::max(1e-9, reads.time.seconds()));
  if (rate >= kMemoryPace) {
    return fine(rule, fmt::format("Reads run at {}/s per worker, the speed of memory. Use workers "
                                  "to read during the step.",
                                  format_bytes(rate)));
  }
  Finding finding = found(rule, recoverable, context);
  finding.claim = fmt::format("Reads bring {} each at {}/s per worker; storage bandwidth costs {}.",
                              format_bytes(reads.mean()), format_bytes(rate),
                              of_step(context, recoverable, reading.step));
  if (storage.limited()) {
    finding.claim += fmt::format(
        " {}: the storage delivers {}/s in total and is busy {} of the time.",
        storage.in_turns ? "Reads never overlap" : "Reads take longer when more are open",
        format_bytes(static_cast<std::int64_t>(storage.bytes_per_s)),
        format_percent(storage.load(window)));
  }
  finding.confidence = storage.limited() ? 0.9 : 0.7;
  if (auto disk = counters::steady(context, counters::kMachineDiskRead); disk && disk->high > 0) {
    bool saturated = disk->mean >= kSaturated * disk->high;
    finding.claim += fmt::format(" The disks deliver {}/s on average, at most {}/s.",
                                 format_bytes(static_cast<std::int64_t>(disk->mean)),
                                 format_bytes(static_cast<std::int64_t>(disk->high)));
    if (!storage.limited()) finding.confidence = saturated ? 0.9 : 0.6;
  }
  finding.evidence =
      of_all_input
          ? longest_segments(context, *reading.device,
                             {TimeClass::kIoRead, TimeClass::kDecode, TimeClass::kInputOther}, note)
          : longest_segments(context, *reading.device, {TimeClass::kIoRead}, note);
  finding.advice = advice(context);
  return finding;
}

}  // namespace

extern const Rule kSlowStorage = {
    "slow-storage", "Slow storage",
    "Waiting for reads takes over 5 % of the step, and storage bandwidth is the limit.", check};

}  // namespace headway::analyzer
