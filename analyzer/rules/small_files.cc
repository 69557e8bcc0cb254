// SPDX-License-Identifier: MIT
// small-files: reading is slow because the data set consists of many small files.
//
// Symptom: input-bound with io_read as its cause, and small reads.
// Mechanism: every file costs an open, a look-up and a seek or a round trip, whatever its size.
//   Below about 1 MB this fixed cost dominates.
// Formula: fires when io_read > 5 % of the step and the mean read is < 1 MB. Recoverable: io_read x the
//   share of reading that requests cost, as the model of the storage has it (storage_model.h): what is
//   left are transfers and waits for those of other readers. Where no read shows a limit, transfers run
//   at the best rate that a read of at least 64 KiB reached in this run, or at 100 MB/s, which a hard
//   disk and a gigabit network both reach, if that is more.
// Falsified by: small reads from shards through the page cache, which are fast: io_read is then
//   small.
// Known false positives: a program that reads large files in small pieces, with a range for each.
// Source: the measured effect of packing in the I/O literature (RecordIO, TFRecord, WebDataset).
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

constexpr std::int64_t kSmallRead = 1'000'000;

std::string format_rate(const StorageModel& storage) {
  return format_bytes(static_cast<std::int64_t>(storage.bytes_per_s));
}

std::string note(const RuleContext& context, const Segment& segment) {
  const trace::RangeInfo* info = segment.cause.kind == EventRef::Kind::kRange
                                     ? context.trace.info(trace::RangeId{segment.cause.index})
                                     : nullptr;
  if (!info || info->bytes <= 0) return "the worker reads";
  return fmt::format("a read of {} takes {}", format_bytes(info->bytes),
                     format_duration(interval_of(context.trace, segment.cause).length()));
}

/// " at 3.5 MB/s"; empty if no transfer was long enough to measure a rate.
std::string at_rate(const StorageModel& storage) {
  return storage.bytes_per_s < kFasterThanShows ? fmt::format(" at {}/s", format_rate(storage))
                                                : "";
}

Finding check(const Rule& rule, const RuleContext& context) {
  ClassShare reading = worst_share(context, {TimeClass::kIoRead});
  if (!reading.device) return cannot_tell(rule, "No steady step has work on a device.");
  if (reading.share() < kFindingShare)
    return fine(rule, fmt::format("Read wait: {}.", of_step(context, reading.time, reading.step)));
  Reads reads = sum_reads(context.trace, context.steps.warm_from());
  if (reads.count == 0)
    return cannot_tell(rule,
                       "The reads have no sizes. Record again with `headway record --io`, or put "
                       "`bytes` into the payload of the read ranges.");
  std::int64_t mean = reads.mean();
  if (mean >= kSmallRead) {
    return fine(
        rule, fmt::format("Reads bring {} each on average: not small files.", format_bytes(mean)));
  }
  if (reads.files && reads.count < 2 * batches_made(context.trace, context.steps.warm_from())) {
    return fine(rule, fmt::format("Reads bring {} each on average, a whole batch from one file.",
                                  format_bytes(mean)));
  }
  const StorageModel storage =
      busiest_storage(context.trace, context.steps.warm_from(), counters::steady_window(context));
  DurationNs recoverable{static_cast<std::int64_t>(static_cast<double>(reading.time.ns) *
                                                   (1 - storage.left_if_packed))};
  if (ratio(recoverable, reading.step) < kFindingShare) {
    return fine(rule, storage.limited()
                          ? fmt::format("Reads bring only {} each, but the storage transfers at "
                                        "most {}/s. Large reads share this limit.",
                                        format_bytes(mean), format_rate(storage))
                          : fmt::format("Reads bring only {} each, but are as fast as large reads.",
                                        format_bytes(mean)));
  }
  Finding finding = found(rule, recoverable, context);
  auto rate = static_cast<std::int64_t>(static_cast<double>(reads.bytes) /
                                        std::max(1e-9, reads.time.seconds()));
  finding.claim = fmt::format(
      "{} {} bring {} each on average, {}/s per worker; large reads{} would save {}.",
      format_count(reads.count), reads.files ? "files" : "reads", format_bytes(mean),
      format_bytes(rate), at_rate(storage), of_step(context, recoverable, reading.step));
  finding.confidence = 0.8;
  finding.evidence = longest_segments(context, *reading.device, {TimeClass::kIoRead}, note);
  finding.advice = {{"headway-train", "Pack the images into shards, each read in one piece.",
                     "--source shards", settings(context.trace, {"source"})},
                    {"PyTorch", "Pack samples into tar or record shards of 1-128 MB.",
                     "webdataset.ShardWriter(…), then webdataset.WebDataset(…)", ""},
                    {"TensorFlow/JAX", "Pack samples into TFRecord shards of 1-128 MB.",
                     "tf.io.TFRecordWriter(…), then tf.data.TFRecordDataset(…)", ""}};
  return finding;
}

}  // namespace

extern const Rule kSmallFiles = {"small-files", "Small files",
                                 "Reads limit the input, and the mean read is below 1 MB.", check};

}  // namespace headway::analyzer
