// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "collector/record/decode/activity_decoder.h"
#include "collector/record/decode/counter_rows.h"
#include "collector/record/decode/definitions.h"
#include "collector/record/decode/io_rows.h"
#include "collector/record/decode/range_watch.h"
#include "collector/record/decode/record_view.h"
#include "collector/record/messages/clock.h"
#include "collector/record/messages/segment_reader.h"
#include "collector/record/rows/process_table.h"
#include "trace/tables/nvtx_events.h"

namespace headway::record {

/// Turns the records of one process image into rows. The row of a range is written when the range
/// ends, or, if it never ends, when the image is gone. Any content is safe. One thread.
class SegmentDecoder {
 public:
  SegmentDecoder(std::int32_t pid, DomainNumbers& domains, GpuNumbers& gpus,
                 ProcessTable& processes, CounterTable& counters, const TimeAxis& axis,
                 wire::Clock clock, TraceSink& sink, Scope& scope);

  /// Reads the definitions of one round, which must come before its records. False when the content
  /// is damaged; the caller then sends nothing more.
  bool read_definitions(const SegmentData& data);
  /// For rounds that are held back: searches their records for ranges that open and close windows
  /// of the scope.
  void watch(const SegmentData& data);
  /// For rounds that are held back: reports their calls to the scope, before the ops that they
  /// launch, which may be in later rounds, are decoded.
  void note_calls(const SegmentData& data) { activity_.note_calls(data); }
  /// Decodes the records of one round. False when the content is damaged; records before the damage
  /// are kept.
  bool read_records(const SegmentData& data);
  /// To be called when the image is gone or the recording ends: open ranges are written without an
  /// end.
  void finish();
  /// Before `finish`: adds the calls on files that the process had summed but not written at its
  /// end.
  void add_pending_io(const SegmentCounters& counters);

  std::int32_t pid() const { return pid_; }
  /// The number of ranges, marks, calls and device ops written so far.
  std::int64_t events() const { return events_ + activity_.events(); }
  /// The number of calls on files so far.
  std::int64_t io_calls() const { return io_.calls(); }
  Definitions& definitions() { return definitions_; }
  /// The largest number of records of one thread, valid after `finish`; a range has two records.
  std::int64_t busiest_thread() const { return busiest_; }

 private:
  /// Payloads of one event as JSON: one object, or an array of several.
  struct Json {
    std::string objects;  ///< joined by commas
    int count = 0;
    void add(std::string_view object);
    void add(const Json& other);
    std::string text() const { return count > 1 ? "[" + objects + "]" : objects; }
  };
  /// A range that has begun.
  struct OpenRange {
    trace::tables::NvtxEvents::Row row;
    Meaning meaning;
    Json json;                   ///< of payloads that follow no convention
    bool kept = true;            ///< false: it begins outside the scope
    std::int64_t least_end = 0;  ///< latest end of the ranges inside it
  };
  struct Ring {
    std::uint32_t index = 0;
    std::int32_t tid = 0;                                    ///< 0: no thread
    std::int64_t records = 0;                                ///< number, of this thread
    std::map<std::uint16_t, std::vector<OpenRange>> stacks;  ///< by domain
  };
  /// The end of a start/end range whose start is not decoded yet.
  struct EarlyEnd {
    std::int64_t end = 0;  ///< ns of the trace
    std::int64_t global_tid = 0;
    Json json;
  };

  /// False when a record is damaged; the records before it have been written.
  bool read_ring(Ring& ring, std::span<const std::byte> bytes);
  bool read_record(Ring& ring, const RecordView& view, TimeNs time);
  /// Converts a stamp; false when no clock of this recording can give it.
  bool to_time(std::uint64_t stamp, TimeNs& time) const;
  void begin_thread(Ring& ring, std::int32_t tid);
  void end_thread(Ring& ring);

  /// Begins a range; nothing is written before it ends.
  OpenRange open(const Ring& ring, const RecordView& view, TimeNs time, std::int32_t event_type);
  /// Counts the record of a kept range or mark if its text or payload was cut.
  void count_cut(const RecordView& view);
  /// Marks the range as step `number`, as the scope counts it.
  static void declare_step(OpenRange& range, std::int64_t number);
  Json to_json(std::uint16_t domain, std::span<const std::byte> blobs, OpenRange* range);
  std::string message_in_payload(const KnownSchema& schema, std::span<const std::byte> payload);
  bool pop(Ring& ring, const RecordView& view, TimeNs time);
  void mark(const Ring& ring, const RecordView& view, TimeNs time);
  void end_range(const Ring& ring, const RecordView& view, TimeNs time);
  /// `end`: ns of the trace; nullopt: the range never ended.
  void write(OpenRange& range, std::optional<std::int64_t> end);
  bool io(const Ring& ring, const RecordView& view, TimeNs time);
  std::int64_t global_tid(const Ring& ring) const { return global_pid(pid_) | ring.tid; }

  std::int32_t pid_;
  ProcessTable& processes_;
  const TimeAxis& axis_;
  wire::Clock clock_;
  TraceSink& sink_;
  Definitions definitions_;
  ActivityDecoder activity_;
  IoRows io_;
  CounterRows counters_;
  Scope& scope_;
  RangeWatch watch_;
  std::unordered_map<std::uint32_t, Ring> rings_;
  std::unordered_map<std::uint64_t, OpenRange> ranges_;  ///< start/end ranges, by range id
  /// Ends that were drained before their starts, which are in another thread's ring.
  std::unordered_map<std::uint64_t, EarlyEnd> early_ends_;
  std::int64_t events_ = 0;  ///< rows of ranges and marks written so far
  std::int64_t busiest_ = 0;
};

}  // namespace headway::record
