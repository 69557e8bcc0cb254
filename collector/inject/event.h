// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <cwchar>

#include "collector/inject/clock.h"
#include "collector/inject/nvtx_types.h"
#include "collector/inject/ring_writer.h"
#include "collector/inject/short_text.h"
#include "collector/inject/thread.h"
#include "collector/inject/utf8.h"

namespace headway::inject {

/// What an NVTX call says, in pointers to the caller's memory. At most one of text, wide and
/// handle.
struct Event {
  const char* text = nullptr;     ///< zero-terminated UTF-8
  const wchar_t* wide = nullptr;  ///< zero-terminated UTF-32
  std::uint32_t handle = 0;       ///< id of a registered text; 0: none
  std::uint32_t category = 0;
  std::uint32_t color = 0;  ///< ARGB, with `has_color`
  bool has_color = false;
  wire::PayloadKind payload_kind = wire::PayloadKind::kNone;
  std::uint64_t payload = 0;                 ///< for kBlobs: size of all blobs, set by `measure`
  const nvtxPayloadData_t* blobs = nullptr;  ///< extended payloads, with kBlobs
  std::uint32_t blob_count = 0;
};

/// How much room an event takes.
struct Shape {
  std::uint32_t text_bytes = 0;   ///< of the inline text; 0 with a handle
  std::uint32_t extra_bytes = 0;  ///< everything behind the record, padded
  std::uint8_t flags = 0;         ///< wire::RecordFlag
  /// Units in the ring, the record itself included.
  std::uint32_t units() const { return 1 + wire::units_for(extra_bytes); }
};

/// Bytes of one extended payload that are recorded, at most `limit`; `cut` is set when that is not
/// all of it.
std::uint32_t blob_bytes(const nvtxPayloadData_t& blob, std::uint32_t limit, bool& cut);
/// Size of all blobs with their headers, padded, within kMaxBlobs.
std::uint32_t measure_blobs(const Event& event, bool& cut);
/// Copies the payloads behind the record; never more bytes than were measured, even when the program changes them
/// meanwhile.
void put_blobs(RingWriter& ring, std::uint32_t offset, const Event& event);

/// True for one payload of known size, which nearly all events with payloads have: that case needs
/// no loop, which saves 15 ns.
inline bool is_single_blob(const Event& event) {
  return event.blob_count == 1 && event.blobs->payload &&
         event.blobs->size <= wire::kMaxBlobs - sizeof(wire::BlobHeader);
}
/// Converts to UTF-8 on the way; `bytes` is what measure() found.
void put_wide(RingWriter& ring, std::uint32_t offset, const wchar_t* text, std::uint32_t bytes);

// measure() and write() are always inlined: a Shape passed in memory would be written in parts and
// read as a whole, and the processor would stall on that load (13 of 47 ns a push/pop pair).
[[gnu::always_inline]] inline Shape measure(wire::RecordType type, Event& event) {
  Shape shape;
  bool cut = false;
  if (event.handle) {
    shape.flags |= wire::kTextHandle;
  } else if (event.text) {
    shape.text_bytes = text_length(event.text);
    if (shape.text_bytes > wire::kMaxText) [[unlikely]] {
      shape.text_bytes = wire::kMaxText;
      cut = true;
    }
    shape.flags |= wire::kTextInline;
  } else if (event.wide) {
    shape.text_bytes = utf8_length(event.wide, wire::kMaxText, cut);
    shape.flags |= wire::kTextInline;
  }
  shape.extra_bytes = wire::padded(shape.text_bytes);
  if (event.payload_kind == wire::PayloadKind::kBlobs) {
    std::uint32_t bytes;
    if (is_single_blob(event)) [[likely]] {
      bytes =
          sizeof(wire::BlobHeader) + wire::padded(static_cast<std::uint32_t>(event.blobs->size));
    } else {
      bool blobs_cut = false;
      bytes = measure_blobs(event, blobs_cut);
      cut |= blobs_cut;
    }
    event.payload = bytes;
    shape.extra_bytes += bytes;
  }
  bool value_taken = type == wire::RecordType::kStart || type == wire::RecordType::kEnd;
  if (event.category > 0xffff || (value_taken && event.payload_kind != wire::PayloadKind::kNone))
      [[unlikely]] {
    shape.flags |= wire::kHasAttributes;
    shape.extra_bytes += sizeof(wire::Attributes);
  }
  if (event.has_color) shape.flags |= wire::kHasColor;
  if (cut) [[unlikely]]
    shape.flags |= wire::kCut;
  shape.flags |=
      static_cast<std::uint8_t>(static_cast<unsigned>(event.payload_kind) << wire::kPayloadShift);
  return shape;
}

/// Puts and commits the event; the caller has checked that there is room. `value` is the range id for
/// types that have one, else 0.
[[gnu::always_inline]] inline void write(ThreadState& thread, wire::RecordType type,
                                         std::uint16_t domain, const Event& event,
                                         const Shape& shape, std::uint64_t value) {
  RingWriter& ring = thread.ring;
  RecordWords words;
  words.head = RecordWords::make_head(type, shape.flags, shape.units() - 1, domain, event.category);
  words.text_and_color =
      (event.handle ? event.handle : shape.text_bytes) | std::uint64_t{event.color} << 32;
  words.value = value ? value : event.payload;
  std::uint32_t offset = 0;
  if (shape.flags & wire::kHasAttributes) [[unlikely]] {
    wire::Attributes attributes{event.payload, event.category, {}};
    ring.put_extra(0, &attributes, sizeof attributes);
    offset = sizeof attributes;
  }
  if (event.text) {
    put_text(ring, offset, event.text, shape.text_bytes);
  } else if (event.wide) {
    put_wide(ring, offset, event.wide, shape.text_bytes);
  }
  if (event.payload_kind == wire::PayloadKind::kBlobs) {
    offset += wire::padded(shape.text_bytes);
    if (is_single_blob(event)) [[likely]] {
      // Not more than was measured, even when the program changes the payload meanwhile.
      std::uint64_t measured = event.payload - sizeof(wire::BlobHeader);
      auto bytes =
          static_cast<std::uint32_t>(event.blobs->size < measured ? event.blobs->size : measured);
      ring.put_words(offset, event.blobs->schemaId, bytes);
      ring.put_extra(offset + sizeof(wire::BlobHeader), event.blobs->payload, bytes);
    } else {
      put_blobs(ring, offset, event);
    }
  }
  // The stamp is read last, so that the range does not contain the time spent here.
  ring.put(now(thread.clock), words);
  ring.commit(shape.units());
}

/// Whether there is room for a push of `units`, its own pop, and the pops of all open pushes.
inline bool has_room_to_push(ThreadState& thread, std::uint32_t units) {
  return thread.ring.has_room(units + std::uint64_t{thread.open} + 1 + wire::kEndReserve);
}

/// Puts the pop of the innermost range of the domain, which must exist. Returns that range's level.
inline int put_pop(ThreadState& thread, std::uint16_t domain, DomainStack& stack,
                   std::uint64_t time) {
  thread.ring.put(time, {RecordWords::make_head(wire::RecordType::kPop, 0, 0, domain), 0, 0});
  thread.ring.commit(1);
  --thread.open;
  return static_cast<int>(--stack.depth);
}

/// Pushes the event and keeps room for its pop. Returns the level of the new range.
int push(ThreadState& thread, std::uint16_t domain, Event& event);
/// Pops the innermost range of the domain, with the payload when there is room for it. Returns the
/// level of the range that ended. `time` is the first thing that the caller reads: the range ends
/// when the program calls this library.
int pop(ThreadState& thread, std::uint16_t domain, Event& event);

/// Measures the cost of one push or pop on this thread, in ps: writes a few hundred pairs into the
/// free part of the ring, without publishing them to the recorder. Takes about 20 us.
std::uint32_t measure_event_cost_ps(const ThreadState& thread);

}  // namespace headway::inject
