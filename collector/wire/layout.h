// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

/// The shared memory between a recorded process and `headway record`: one memfd ("segment") per
/// process, made by the process and handed over at its first NVTX call (hello.h). All offsets follow
/// from the layout's number, so the reader never relies on an offset stored in the memory itself.
///
///   header, ActivityArea | one RingControl per ring | definitions log | rings, largest class first |
///   activity slots
///
/// Both sides come from one build; `kVersion` only makes a mix of two installations fail clearly.
namespace headway::wire {

inline constexpr std::uint64_t kMagic = 0x314d5359'41574448;  // "HDWAYSM1"
inline constexpr std::uint32_t kVersion = 7;

/// Granule of a ring: every record is a multiple of it, so a header never wraps.
inline constexpr std::uint32_t kUnit = 32;

/// The clock of the records' time stamps; the recorder chooses one for all processes.
enum class Clock : std::uint32_t {
  kRealtime = 0,  ///< CLOCK_REALTIME in ns
  kTsc = 1,       ///< ticks of the processor's time-stamp counter
};

/// Rings of one size.
struct RingClass {
  std::uint32_t count;
  std::uint32_t bytes;  ///< a power of two
};

/// How a segment is divided. The sizes are address space; memory is taken page by page when a ring is
/// first used. The first threads, which do most of the work, get the large rings.
struct Layout {
  std::array<RingClass, 3> classes;  ///< the largest first
  std::uint32_t definition_bytes;    ///< of the log
  RingClass activity;                ///< slots that CUPTI writes into (activity.h)
};

inline constexpr std::uint32_t kKiB = 1024;
inline constexpr std::uint32_t kMiB = 1024 * kKiB;

/// In order of preference; the process takes the first one that its limits allow.
inline constexpr std::array<Layout, 3> kLayouts = {{
    {{{{32, 1 * kMiB}, {96, 256 * kKiB}, {896, 64 * kKiB}}}, 8 * kMiB, {48, 1 * kMiB}},
    {{{{8, 1 * kMiB}, {24, 256 * kKiB}, {32, 64 * kKiB}}}, 2 * kMiB, {16, 1 * kMiB}},
    {{{{1, 1 * kMiB}, {3, 256 * kKiB}, {12, 64 * kKiB}}}, 512 * kKiB, {8, 256 * kKiB}},
}};
inline constexpr std::uint32_t kMaxRings = 1024;
inline constexpr std::uint32_t kMaxActivitySlots = 48;

/// At offset 0 of the segment. Written by the process and read by the recorder, except for `closed`.
struct SegmentHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t layout;
  std::uint32_t event_cost_ps;  ///< cost of one event, measured by the process at its start
  std::atomic<std::uint32_t> rings_used;  ///< rings from this number on were never taken
  /// Set by the recorder when it takes no more. The process reads it when a ring is full, which
  /// happens soon, and then records nothing any more.
  std::atomic<std::uint32_t> closed;

  /// Bytes of complete definitions in the log: a definition is published before any record that
  /// refers to it.
  alignas(64) std::atomic<std::uint64_t> definitions_end;

  // Losses that belong to no ring.
  alignas(64) std::atomic<std::uint64_t> events_without_ring;  ///< more threads than rings
  std::atomic<std::uint64_t> reentrant_events;  ///< from signal handlers that interrupted an event
  std::atomic<std::uint64_t> definitions_lost;  ///< no room in the log
  std::atomic<std::uint64_t> io_paths_folded;   ///< paths replaced by their folder for lack of room
  std::atomic<std::uint64_t> io_not_followed;   ///< calls on descriptors beyond the table
};

/// State of one ring, single producer (a thread), single consumer (the recorder). `head` and `tail`
/// count units since the beginning and never wrap; unit n lies at n modulo the ring's size.
struct RingControl {
  alignas(64) std::atomic<std::uint64_t> head;  ///< written by the producer only
  // Counted by the producer only.
  std::atomic<std::uint64_t> dropped;  ///< events for which there was no room; a range counts once
  std::atomic<std::uint64_t> pops_without_push;  ///< nothing was open in the domain
  std::atomic<std::uint64_t> unknown_handles;    ///< domain handles that this library did not give
  // Short calls on files that are summed but in no record yet: here they survive the process.
  std::atomic<std::uint64_t> pending_reads;
  std::atomic<std::uint64_t> pending_read_bytes;
  std::atomic<std::uint64_t> pending_writes;
  std::atomic<std::uint64_t> pending_written_bytes;
  alignas(64) std::atomic<std::uint64_t> tail;  ///< written by the recorder only
  /// Ends of ranges whose beginning was dropped: these calls cost time but are not counted as events.
  /// Counted by the producer; it stands here because the producer's cache line is full.
  std::atomic<std::uint64_t> dropped_ends;
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "shared between processes");
static_assert(sizeof(SegmentHeader) == 192 && sizeof(RingControl) == 128);

constexpr std::uint32_t ring_count(const Layout& layout) {
  std::uint32_t count = 0;
  for (const RingClass& c : layout.classes) count += c.count;
  return count;
}

inline constexpr std::uint64_t kActivityOffset = 512;
inline constexpr std::uint64_t kControlOffset = 4096;

/// Where the log begins: behind the ring controls, at a multiple of 64 KiB.
constexpr std::uint64_t definitions_offset(const Layout& layout) {
  std::uint64_t end = kControlOffset + std::uint64_t{ring_count(layout)} * sizeof(RingControl);
  return (end + 65535) / 65536 * 65536;
}

struct RingPlace {
  std::uint64_t offset = 0;
  std::uint64_t units = 0;  ///< 0: no such ring
};

/// Where ring number `ring` lies; `units` is 0 for a number that the layout does not have.
constexpr RingPlace ring_place(const Layout& layout, std::uint32_t ring) {
  std::uint64_t offset = definitions_offset(layout) + layout.definition_bytes;
  for (const RingClass& c : layout.classes) {
    if (ring < c.count) return {offset + std::uint64_t{ring} * c.bytes, c.bytes / kUnit};
    ring -= c.count;
    offset += std::uint64_t{c.count} * c.bytes;
  }
  return {};
}

/// Where the first activity slot begins.
constexpr std::uint64_t activity_offset(const Layout& layout) {
  std::uint64_t bytes = definitions_offset(layout) + layout.definition_bytes;
  for (const RingClass& c : layout.classes) bytes += std::uint64_t{c.count} * c.bytes;
  return bytes;
}

/// Size of the whole segment in address space; memory is taken page by page.
constexpr std::uint64_t segment_bytes(const Layout& layout) {
  return activity_offset(layout) + std::uint64_t{layout.activity.count} * layout.activity.bytes;
}

static_assert(ring_count(kLayouts[0]) == kMaxRings);
static_assert(kLayouts[0].activity.count <= kMaxActivitySlots);
static_assert(segment_bytes(kLayouts[0]) <= 192u * kMiB);

}  // namespace headway::wire
