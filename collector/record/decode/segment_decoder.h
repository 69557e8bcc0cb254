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

/// Turns what one process image recorded into rows. The row of a range is written when it ends,
/// that of a range that never does when the image is gone. Any content is safe. One thread.
class SegmentDecoder {
 public:
  SegmentDecoder(std::int32_t pid, DomainNumbers& domains, GpuNumbers& gpus,
                 ProcessTable& processes, CounterTable& counters, const TimeAxis& axis,
                 wire::Clock clock, TraceSink& sink, Scope& scope);

  /// In order: what one round defines, before its records. False when the content is damaged; then
  /// the caller sends nothing more.
  bool read_definitions(const SegmentData& data);
  /// When records are held back: looks in them for what opens and closes windows of the scope.
  void watch(const SegmentData& data);
  /// The same, for the calls that launch what is in later rounds.
  void note_calls(const SegmentData& data) { activity_.note_calls(data); }
  /// The records of one round. False when the content is damaged; what came before the damage is
  /// kept.
  bool read_records(const SegmentData& data);
  /// The image is gone, or the recording ends: ranges that are open stay open.
  void finish();
  /// Before `finish`: calls on files that the process had summed but not written when it ended.
  void add_pending_io(const SegmentCounters& counters);

  std::int32_t pid() const { return pid_; }
  /// Ranges, marks, calls and device ops written so far.
  std::int64_t events() const { return events_ + activity_.events(); }
  /// Calls on files.
  std::int64_t io_calls() const { return io_.calls(); }
  Definitions& definitions() { return definitions_; }
  /// Most records of one thread, after `finish`; a range has two.
  std::int64_t busiest_thread() const { return busiest_; }

 private:
  /// Payloads of one event: an object, or an array of several.
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
    Json json;                   ///< of payloads that are not a convention
    bool kept = true;            ///< it begins inside the scope
    std::int64_t least_end = 0;  ///< of what lies inside
  };
  struct Ring {
    std::uint32_t index = 0;
    std::int32_t tid = 0;                                    ///< 0: no thread
    std::int64_t records = 0;                                ///< of this thread
    std::map<std::uint16_t, std::vector<OpenRange>> stacks;  ///< by domain
  };
  /// What an end/start range's end says before its start is known.
  struct EarlyEnd {
    std::int64_t end = 0;  ///< ns of the trace
    std::int64_t global_tid = 0;
    Json json;
  };

  /// False when a record is damaged; those before it were written.
  bool read_ring(Ring& ring, std::span<const std::byte> bytes);
  bool read_record(Ring& ring, const RecordView& view, TimeNs time);
  /// False when no clock that was handed out can say this.
  bool to_time(std::uint64_t stamp, TimeNs& time) const;
  void begin_thread(Ring& ring, std::int32_t tid);
  void end_thread(Ring& ring);

  /// Begins a range; nothing is written before it ends.
  OpenRange open(const Ring& ring, const RecordView& view, TimeNs time, std::int32_t event_type);
  /// Of a range or mark that is kept.
  void count_cut(const RecordView& view);
  /// The scope counts it: then it says of itself that it is a step.
  static void declare_step(OpenRange& range, std::int64_t number);
  Json to_json(std::uint16_t domain, std::span<const std::byte> blobs, OpenRange* range);
  std::string message_in_payload(const KnownSchema& schema, std::span<const std::byte> payload);
  bool pop(Ring& ring, const RecordView& view, TimeNs time);
  void mark(const Ring& ring, const RecordView& view, TimeNs time);
  void end_range(const Ring& ring, const RecordView& view, TimeNs time);
  /// `end`: ns of the trace; none: it never ended.
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
  std::unordered_map<std::uint64_t, OpenRange> ranges_;  ///< start/end, by range id
  /// Ends that were drained before their starts, which lie in another thread's ring.
  std::unordered_map<std::uint64_t, EarlyEnd> early_ends_;
  std::int64_t events_ = 0;  ///< rows of ranges and marks written so far
  std::int64_t busiest_ = 0;
};

}  // namespace headway::record
