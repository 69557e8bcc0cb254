// SPDX-License-Identifier: MIT
#include "collector/inject/event.h"

#include <algorithm>

#include "collector/inject/hot_path.h"

namespace headway::inject {
namespace {

constexpr std::uint32_t kMaxBlobCount = 64;

std::int64_t monotonic_ns() {
  timespec time;
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// Calls `each(header, data)` for every blob within the limits; the last one may be cut.
template <class Each>
void for_each_blob(const Event& event, bool& cut, Each each) {
  std::uint32_t left = wire::kMaxBlobs;
  cut = event.blob_count > kMaxBlobCount;
  for (std::uint32_t i = 0; i < std::min(event.blob_count, kMaxBlobCount); ++i) {
    if (left < sizeof(wire::BlobHeader) + 8) {
      cut = true;
      return;
    }
    left -= sizeof(wire::BlobHeader);
    std::uint32_t bytes = blob_bytes(event.blobs[i], left, cut);
    left -= wire::padded(bytes);
    each(wire::BlobHeader{event.blobs[i].schemaId, bytes, 0}, event.blobs[i].payload);
  }
}

}  // namespace

std::uint32_t blob_bytes(const nvtxPayloadData_t& blob, std::uint32_t limit, bool& cut) {
  std::size_t bytes = blob.payload ? blob.size : 0;
  if (bytes == SIZE_MAX) {
    // The program leaves the size open: only the size of plain texts can be found.
    bool text = blob.schemaId == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING ||
                blob.schemaId == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;
    if (text) {
      bytes = ::strnlen(static_cast<const char*>(blob.payload), limit + 1);
    } else {
      bytes = 0;
      cut = true;
    }
  }
  if (bytes > limit) {
    bytes = limit;
    cut = true;
  }
  return static_cast<std::uint32_t>(bytes);
}

std::uint32_t measure_blobs(const Event& event, bool& cut) {
  std::uint32_t total = 0;
  for_each_blob(event, cut, [&](const wire::BlobHeader& header, const void*) {
    total += sizeof header + wire::padded(header.bytes);
  });
  return total;
}

void put_blobs(RingWriter& ring, std::uint32_t offset, const Event& event) {
  bool cut = false;
  // Another thread may make a text payload longer between the two passes: stay in the measured
  // room.
  std::uint32_t end = offset + static_cast<std::uint32_t>(event.payload);
  for_each_blob(event, cut, [&](wire::BlobHeader header, const void* data) {
    if (end - offset < sizeof header) return;
    header.bytes = std::min<std::uint32_t>(header.bytes, end - offset - sizeof header);
    ring.put_extra(offset, &header, sizeof header);
    if (header.bytes > 0) ring.put_extra(offset + sizeof header, data, header.bytes);
    offset += sizeof header + wire::padded(header.bytes);
  });
}

void put_wide(RingWriter& ring, std::uint32_t offset, const wchar_t* text, std::uint32_t bytes) {
  std::uint32_t done = 0;
  char encoded[4];
  for (; done < bytes && *text; ++text) {
    std::uint32_t length = std::min(encode_utf8(*text, encoded), bytes - done);
    ring.put_extra(offset + done, encoded, length);
    done += length;
  }
}

int push(ThreadState& thread, std::uint16_t domain, Event& event) {
  DomainStack* stack = thread.stack(domain);
  if (!stack) [[unlikely]] {
    thread.count_dropped();
    return NVTX_NO_PUSH_POP_TRACKING;
  }
  if (stack->skipped == 0) [[likely]] {
    Shape shape = measure(wire::RecordType::kPush, event);
    if (has_room_to_push(thread, shape.units())) [[likely]] {
      ++thread.open;
      write(thread, wire::RecordType::kPush, domain, event, shape, 0);
      return static_cast<int>(stack->depth++);
    }
  }
  thread.count_dropped();
  return static_cast<int>(stack->depth + stack->skipped++);
}

int pop(ThreadState& thread, std::uint16_t domain, Event& event) {
  std::uint64_t time = now(thread.clock);
  DomainStack* stack = thread.stack(domain);
  if (!stack) [[unlikely]] {
    thread.count_dropped_end();
    return NVTX_NO_PUSH_POP_TRACKING;
  }
  if (stack->skipped) [[unlikely]] {
    thread.count_dropped_end();
    return static_cast<int>(stack->depth + --stack->skipped);
  }
  if (stack->depth == 0) [[unlikely]] {
    add_own(thread.ring.control().pops_without_push);
    return -1;
  }
  if (event.payload_kind != wire::PayloadKind::kNone) {
    Shape shape = measure(wire::RecordType::kPop, event);
    if (thread.ring.has_room(shape.units() + std::uint64_t{thread.open} + wire::kEndReserve)) {
      --thread.open;
      write(thread, wire::RecordType::kPop, domain, event, shape, 0);
      return static_cast<int>(--stack->depth);
    }
  }
  return put_pop(thread, domain, *stack, time);
}

std::uint32_t measure_event_cost_ps(const ThreadState& thread) {
  constexpr std::uint32_t kPairs = 512;
  constexpr char kName[kShortText] = "layer1.0.conv1";
  ThreadState scratch = thread;
  wire::RingControl control{};  // not the ring's own: nothing is published
  scratch.ring.redirect(control);
  std::memset(scratch.near, 0, sizeof scratch.near);
  scratch.open = 0;
  std::int64_t best = INT64_MAX;
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::int64_t start = monotonic_ns();
    for (std::uint32_t i = 0; i < kPairs; ++i) {
      push_text(scratch, kName);
      pop_plain(scratch, 0);
    }
    best = std::min(best, monotonic_ns() - start);
    control.tail.store(control.head.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  std::int64_t picoseconds = best * 1000 / (2 * kPairs);
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(picoseconds, 1, UINT32_MAX));
}

}  // namespace headway::inject
