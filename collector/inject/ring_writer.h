// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstring>

#include "collector/wire/record.h"

namespace headway::inject {

/// A wire::Record without its time, as the machine words that it consists of.
struct RecordWords {
  std::uint64_t head = 0;            ///< type, flags, extra units, domain, category: see make_head
  std::uint64_t text_and_color = 0;  ///< text in the lower half, colour in the upper
  std::uint64_t value = 0;

  static std::uint64_t make_head(wire::RecordType type, std::uint8_t flags = 0,
                                 std::uint32_t extra_units = 0, std::uint16_t domain = 0,
                                 std::uint32_t category = 0) {
    return static_cast<std::uint64_t>(type) | std::uint64_t{flags} << 8 |
           std::uint64_t{extra_units} << 16 | std::uint64_t{domain} << 32 |
           std::uint64_t{category} << 48;
  }
};
static_assert(std::endian::native == std::endian::little);
static_assert(offsetof(wire::Record, type) == 8 && offsetof(wire::Record, flags) == 9 &&
              offsetof(wire::Record, extra_units) == 10 && offsetof(wire::Record, domain) == 12 &&
              offsetof(wire::Record, category) == 14 && offsetof(wire::Record, text) == 16 &&
              offsetof(wire::Record, color) == 20 && offsetof(wire::Record, value) == 24);

/// The producer's end of a ring, for one thread at a time. The recorder does not see a record before
/// `commit`, so a process that dies in between leaves no half record. Never waits: the caller asks
/// `has_room` first.
class RingWriter {
 public:
  RingWriter() = default;
  RingWriter(std::byte* data, std::uint64_t units, wire::RingControl& control)
      : data_(data),
        mask_(units * wire::kUnit - 1),
        units_(units),
        head_(control.head.load(std::memory_order_relaxed)),
        tail_(control.tail.load(std::memory_order_acquire)),
        control_(&control) {}

  /// Reads the recorder's progress again only when the last known value leaves no room.
  bool has_room(std::uint64_t units) {
    if (head_ + units - tail_ <= units_) return true;
    tail_ = control_->tail.load(std::memory_order_acquire);
    return head_ + units - tail_ <= units_;
  }

  /// Stores the record as whole words. Copying a record that was filled in field by field would stall
  /// on the small stores (20 ns a push/pop pair).
  void put(std::uint64_t time, const RecordWords& words) {
    auto* at = reinterpret_cast<std::uint64_t*>(data_ + (head_ * wire::kUnit & mask_));
    at[0] = time;
    at[1] = words.head;
    at[2] = words.text_and_color;
    at[3] = words.value;
  }
  /// Copies `bytes` to `offset` bytes behind the record; wraps at the end of the ring.
  void put_extra(std::uint32_t offset, const void* source, std::uint32_t bytes) {
    std::uint64_t at = ((head_ + 1) * wire::kUnit + offset) & mask_;
    std::uint64_t to_end = mask_ + 1 - at;
    if (bytes <= to_end) [[likely]] {
      std::memcpy(data_ + at, source, bytes);
    } else {
      std::memcpy(data_ + at, source, to_end);
      std::memcpy(data_, static_cast<const std::byte*>(source) + to_end, bytes - to_end);
    }
  }
  /// Stores two words behind the record; `offset` is a multiple of 8.
  void put_words(std::uint32_t offset, std::uint64_t first, std::uint64_t second) {
    std::uint64_t at = (head_ + 1) * wire::kUnit + offset;
    *reinterpret_cast<std::uint64_t*>(data_ + (at & mask_)) = first;
    *reinterpret_cast<std::uint64_t*>(data_ + ((at + 8) & mask_)) = second;
  }
  /// Whether a record of this many units does not wrap at the end of the ring.
  bool is_contiguous(std::uint32_t units) const {
    return (head_ * wire::kUnit & mask_) + std::uint64_t{units} * wire::kUnit <= mask_ + 1;
  }
  /// The unit behind the record, whole: units never wrap.
  std::byte* second_unit() const { return data_ + ((head_ + 1) * wire::kUnit & mask_); }
  /// Makes what was put visible to the recorder; `units` are those of the record and what follows it.
  void commit(std::uint32_t units) {
    head_ += units;
    control_->head.store(head_, std::memory_order_release);
    // The recorder has read the memory ahead, so its cache lines (two units each) are fetched for
    // writing before they are needed: as many lines as this commit has filled.
    const std::uint64_t ahead = head_ * wire::kUnit + kAhead;
    fetch_for_writing(data_ + (ahead & mask_));
    if (units > 2) fetch_for_writing(data_ + ((ahead - 64) & mask_));
  }

  wire::RingControl& control() const { return *control_; }
  /// Publishes to `control` from here on; for measuring the cost of events.
  void redirect(wire::RingControl& control) {
    control.head.store(head_, std::memory_order_relaxed);
    control.tail.store(head_, std::memory_order_relaxed);
    tail_ = head_;
    control_ = &control;
  }

 private:
  static constexpr std::uint64_t kAhead = 512;
  static void fetch_for_writing(const std::byte* at) {
#ifdef __x86_64__
    asm volatile("prefetchw %0" ::"m"(*at));
#else
    __builtin_prefetch(at, 1);
#endif
  }

  std::byte* data_ = nullptr;
  std::uint64_t mask_ = 0;  ///< bytes of the ring less one
  std::uint64_t units_ = 0;
  std::uint64_t head_ = 0;  ///< units written since the beginning
  std::uint64_t tail_ = 0;  ///< as last read; the recorder may be further
  wire::RingControl* control_ = nullptr;
};

/// Adds to a counter that only this thread writes: no locked instruction.
inline void add_own(std::atomic<std::uint64_t>& counter) {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace headway::inject
