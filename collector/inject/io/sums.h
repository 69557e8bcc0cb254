// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include "collector/inject/thread.h"
#include "collector/wire/io.h"

namespace headway::inject::io {

/// A call on a file, or a sum of calls, as one record has it.
struct IoEvent {
  std::uint64_t start = 0;   ///< stamp of the process's clock, of the first call
  std::uint64_t end = 0;     ///< likewise, of the last call
  std::uint64_t bytes = 0;   ///< moved by all calls together
  std::int64_t offset = -1;  ///< in the file; -1: the descriptor's position
  std::uint64_t detail = 0;  ///< as in IoDetail::detail
  std::uint32_t calls = 1;   ///< number of calls in the record
  std::uint32_t path = 0;    ///< id of the path; 0: not known
  std::int32_t fd = -1;
  std::uint16_t error = 0;  ///< errno; 0: the call succeeded
  wire::IoOp op = wire::IoOp::kRead;
  wire::IoFunction function = wire::IoFunction::k_read;
};

// A short read from the page cache takes less than this, a read from storage takes more.
inline constexpr std::uint64_t kSlowUs = 20;
inline constexpr std::uint64_t kMaxSumAgeUs = 10'000;  ///< a sum is written when it is that old
inline constexpr std::uint32_t kSums = 4;              ///< of a thread, by descriptor and direction

struct ThreadSums {
  std::uint32_t generation;  ///< ThreadState's; if it differs, the sums are of a fork's parent
  IoEvent sums[kSums];       ///< detail: time inside the calls; calls == 0: free
  static std::uint32_t place(const IoEvent& event) {
    return (static_cast<unsigned>(event.fd) * 2 + (event.op == wire::IoOp::kWrite ? 1 : 0)) % kSums;
  }
};
/// By ring. In .bss: pages that no thread uses take no memory.
extern constinit ThreadSums g_sums[wire::kMaxRings];
/// Rate of the process's clock in stamps per microsecond; 0: not known yet.
extern constinit std::atomic<std::uint64_t> g_stamps_per_us;

/// Measures the rate from both clocks since start_rate(), to a few percent. Keeps the result in
/// g_stamps_per_us.
std::uint64_t measure_stamps_per_us();
/// Converts a duration to stamps of the process's clock.
inline std::uint64_t stamps_of_us(std::uint64_t microseconds) {
  std::uint64_t rate = g_stamps_per_us.load(std::memory_order_relaxed);
  if (rate == 0) [[unlikely]]
    rate = measure_stamps_per_us();
  return rate * microseconds;
}

/// Writes the record. False when the ring has no room; the loss is not counted here.
[[gnu::always_inline]] inline bool put(ThreadState& thread, const IoEvent& event) {
  RingWriter& ring = thread.ring;
  if (!ring.has_room(2 + std::uint64_t{thread.open} + wire::kEndReserve)) [[unlikely]]
    return false;
  auto* unit = reinterpret_cast<std::uint64_t*>(ring.second_unit());
  unit[0] = event.end;
  unit[1] = static_cast<std::uint64_t>(event.offset);
  unit[2] = event.detail;
  unit[3] = event.calls | std::uint64_t{event.error} << 32;
  RecordWords words;
  words.head = RecordWords::make_head(wire::RecordType::kIo, 0, 1, 0,
                                      wire::io_category(event.op, event.function));
  words.text_and_color = event.path | std::uint64_t{static_cast<std::uint32_t>(event.fd)} << 32;
  words.value = event.bytes;
  ring.put(event.start, words);
  ring.commit(2);
  return true;
}
static_assert(offsetof(wire::IoDetail, end) == 0 && offsetof(wire::IoDetail, offset) == 8 &&
              offsetof(wire::IoDetail, detail) == 16 && offsetof(wire::IoDetail, calls) == 24 &&
              offsetof(wire::IoDetail, error) == 28);

/// Whether the call is summed with others like it.
inline bool is_short(const IoEvent& event) {
  return event.bytes < wire::kSmallIoBytes && event.error == 0 &&
         (event.op == wire::IoOp::kRead || event.op == wire::IoOp::kWrite) &&
         event.end - event.start < stamps_of_us(kSlowUs);
}

/// Adds to a counter that only this thread writes: no locked instruction.
inline void add_own(std::atomic<std::uint64_t>& counter, std::uint64_t n) {
  counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}
/// Counts calls that are in a sum but in no record yet, in the shared memory, where the counts
/// survive the death of the process.
inline void add_pending(ThreadState& thread, wire::IoOp op, std::uint64_t calls,
                        std::uint64_t bytes) {
  wire::RingControl& control = thread.ring.control();
  bool write = op == wire::IoOp::kWrite;
  add_own(write ? control.pending_writes : control.pending_reads, calls);
  add_own(write ? control.pending_written_bytes : control.pending_read_bytes, bytes);
}

/// The fast case of add_to_sum: the call's sum exists and takes the call. False: the caller must
/// use add_to_sum.
[[gnu::always_inline]] inline bool extend_sum(ThreadState& thread, const IoEvent& event) {
  ThreadSums& sums = g_sums[thread.slot];
  IoEvent& sum = sums.sums[ThreadSums::place(event)];
  bool goes_on = sums.generation == thread.generation && sum.calls > 0 && sum.fd == event.fd &&
                 sum.op == event.op && sum.path == event.path &&
                 event.end - sum.start < stamps_of_us(kMaxSumAgeUs);
  if (!goes_on) [[unlikely]]
    return false;
  sum.end = event.end;
  sum.bytes += event.bytes;
  sum.detail += event.end - event.start;
  sum.offset = -1;
  sum.function = event.function;
  ++sum.calls;
  add_pending(thread, event.op, 1, event.bytes);
  return true;
}

/// Adds a short read or write to the thread's sum for the descriptor. A sum is written when it is
/// 10 ms old, when the descriptor is closed, when the thread ends, or when another descriptor needs
/// its place; until then the ring's control block has its calls and bytes.
void add_to_sum(ThreadState& thread, const IoEvent& event);
/// Writes the sums of one descriptor; -1: of all.
void write_sums(ThreadState& thread, int fd = -1);

/// To be called once, early: the rate of the clock is measured from here on.
void start_rate();

}  // namespace headway::inject::io
