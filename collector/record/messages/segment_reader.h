// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collector/record/messages/file_descriptor.h"
#include "collector/wire/activity.h"

namespace headway::record {

/// The part of SegmentData::records that comes from one ring.
struct RingSlice {
  std::uint32_t ring = 0;
  std::size_t offset = 0;  ///< in SegmentData::records
  std::size_t bytes = 0;
};

/// One activity buffer, in SegmentData::activity.
struct ActivityBuffer {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  /// The process died while CUPTI held the buffer: the part that CUPTI had not written is zero.
  bool partial = false;
  std::uint64_t order = 0;  ///< ActivitySlot::order
};

/// What one round took from a segment: private copies, so that nothing changes during decoding.
struct SegmentData {
  std::vector<std::byte> definitions;   ///< whole entries
  std::vector<std::byte> records;       ///< of all rings, concatenated
  std::vector<RingSlice> slices;        ///< the pieces of `records`, by ring
  std::vector<std::byte> activity;      ///< CUPTI's buffers, concatenated
  std::vector<ActivityBuffer> buffers;  ///< in the order in which they were published
  std::array<std::uint16_t, wire::kActivityKinds> strides{};  ///< ActivityArea::stride
  std::size_t bytes() const { return definitions.size() + records.size() + activity.size(); }
};

/// Totals of a segment since its beginning.
struct SegmentCounters {
  std::uint64_t dropped = 0;             ///< events for which a ring had no room
  std::uint64_t most_dropped_calls = 0;  ///< dropped begins and ends, of the ring with most
  std::uint64_t pops_without_push = 0;
  std::uint64_t unknown_handles = 0;
  std::uint64_t events_without_ring = 0;  ///< of threads beyond the number of rings
  std::uint64_t reentrant_events = 0;     ///< from signal handlers inside an event
  std::uint64_t definitions_lost = 0;     ///< texts, schemas and paths without room in the log
  std::uint64_t io_paths_folded = 0;      ///< files that are recorded by their folder
  std::uint64_t io_not_followed = 0;      ///< calls on descriptors beyond the table
  std::uint64_t pending_reads = 0;        ///< summed, in no record yet; also the next three
  std::uint64_t pending_read_bytes = 0;
  std::uint64_t pending_writes = 0;
  std::uint64_t pending_written_bytes = 0;
  std::uint64_t activity_lost = 0;  ///< lost records of CUPTI
  std::uint64_t activity_ns = 0;    ///< time that threads spent handing CUPTI's records over
  std::uint32_t event_cost_ps = 0;  ///< of one push or pop, as the process measured it
};

/// The recorder's end of a process's shared memory. The memory is untrusted: every number read from
/// it is checked against the agreed layout, and content is copied before it is read. One thread at
/// a time.
class SegmentReader {
 public:
  /// Maps the memory. Null, with the reason in `why_not`, when it is not memory that the library
  /// would hand over.
  static std::unique_ptr<SegmentReader> map(const FileDescriptor& memory, std::uint32_t layout,
                                            std::string& why_not);
  ~SegmentReader();
  SegmentReader(const SegmentReader&) = delete;
  SegmentReader& operator=(const SegmentReader&) = delete;

  /// First step of a round: reads how far each ring has been written, then how far the definitions
  /// have. So the definitions that a record refers to are in the same round or an earlier one.
  /// False when the memory is damaged.
  bool snapshot();
  /// Second step: copies everything up to the snapshot and gives the room back to the process.
  /// Rings and buffers beyond `limit` bytes in total are left for the next round; `complete` says
  /// that none was left. `ended`: nothing writes any more, so buffers that CUPTI still holds are
  /// taken too.
  void take(SegmentData& data, std::size_t limit, bool ended, bool& complete);
  /// How full the fullest ring was at the snapshot, 0 to 1.
  double fullest() const { return fullest_; }
  /// May be read at any time. Each number is exact, but they are not all from the same moment.
  SegmentCounters counters() const;
  /// Tells the process that the recorder takes no more: it then stops recording for ever.
  void close() { header().closed.store(1, std::memory_order_relaxed); }

 private:
  SegmentReader(std::byte* base, const wire::Layout& layout);
  wire::SegmentHeader& header() const { return *reinterpret_cast<wire::SegmentHeader*>(base_); }
  wire::RingControl& control(std::uint32_t ring) const {
    return reinterpret_cast<wire::RingControl*>(base_ + wire::kControlOffset)[ring];
  }

  wire::ActivityArea& area() const {
    return *reinterpret_cast<wire::ActivityArea*>(base_ + wire::kActivityOffset);
  }
  void take_activity(SegmentData& data, std::size_t limit, bool ended, bool& complete);

  struct Ring {
    std::uint64_t tail = 0;  ///< the recorder's own value; the segment has a copy for the process
    std::uint64_t head = 0;  ///< at the snapshot
  };
  std::byte* base_;
  const wire::Layout& layout_;
  std::vector<Ring> rings_;           ///< the rings that have been used
  std::vector<std::uint32_t> ready_;  ///< ready slots at the snapshot
  std::uint64_t definitions_taken_ = 0;
  std::uint64_t definitions_end_ = 0;
  double fullest_ = 0;
};

}  // namespace headway::record
