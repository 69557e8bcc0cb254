// SPDX-License-Identifier: MIT
#include "collector/inject/io/sums.h"

#include <time.h>

#include <cstring>

#include "collector/inject/clock.h"

namespace headway::inject::io {
namespace {

constexpr std::uint64_t kMaxAgeUs = 10'000;
constexpr std::uint32_t kSums = 4;

struct ThreadSums {
  std::uint32_t generation;  ///< as ThreadState's; another one: of the parent of a fork
  IoEvent sums[kSums];       ///< detail: time inside; calls 0: free
};
// By ring. In .bss: pages that no thread uses are never made.
constinit ThreadSums g_sums[wire::kMaxRings] = {};

struct ClockPair {
  std::uint64_t tsc;
  std::uint64_t ns;
};
constinit ClockPair g_start{};
constinit std::atomic<std::uint64_t> g_stamps_per_us{0};

ClockPair read_pair() {
  timespec time;
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return {now(wire::Clock::kTsc), static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
                                      static_cast<std::uint64_t>(time.tv_nsec)};
}

void add(std::atomic<std::uint64_t>& counter, std::uint64_t n) {
  counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

void add_pending(ThreadState& thread, wire::IoOp op, std::uint64_t calls, std::uint64_t bytes) {
  wire::RingControl& control = thread.ring.control();
  bool write = op == wire::IoOp::kWrite;
  add(write ? control.pending_writes : control.pending_reads, calls);
  add(write ? control.pending_written_bytes : control.pending_read_bytes, bytes);
}

void write_sum(ThreadState& thread, IoEvent& sum) {
  IoEvent event = sum;
  if (event.calls == 1) event.detail = 0;
  sum.calls = 0;
  // Without room it stays counted as pending.
  if (put(thread, event)) add_pending(thread, event.op, -std::uint64_t{event.calls}, -event.bytes);
}

ThreadSums& sums_of(ThreadState& thread) {
  ThreadSums& sums = g_sums[thread.slot];
  if (sums.generation != thread.generation) [[unlikely]] {
    for (IoEvent& sum : sums.sums) sum.calls = 0;
    sums.generation = thread.generation;
  }
  return sums;
}

}  // namespace

bool put(ThreadState& thread, const IoEvent& event) {
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

void add_to_sum(ThreadState& thread, const IoEvent& event) {
  auto place = static_cast<unsigned>(event.fd) * 2 + (event.op == wire::IoOp::kWrite ? 1 : 0);
  IoEvent& sum = sums_of(thread).sums[place % kSums];
  bool goes_on = sum.calls > 0 && sum.fd == event.fd && sum.op == event.op &&
                 sum.path == event.path && event.end - sum.start < stamps_of_us(kMaxAgeUs);
  if (sum.calls > 0 && !goes_on) write_sum(thread, sum);
  if (goes_on) {
    sum.end = event.end;
    sum.bytes += event.bytes;
    sum.detail += event.end - event.start;
    sum.offset = -1;
    sum.function = event.function;
    ++sum.calls;
  } else {
    sum = event;
    sum.detail = event.end - event.start;
  }
  add_pending(thread, event.op, 1, event.bytes);
}

void write_sums(ThreadState& thread, int fd) {
  for (IoEvent& sum : sums_of(thread).sums) {
    if (sum.calls > 0 && (fd < 0 || sum.fd == fd)) write_sum(thread, sum);
  }
}

void start_rate() {
  g_start = read_pair();
}

std::uint64_t stamps_of_us(std::uint64_t microseconds) {
  std::uint64_t rate = g_stamps_per_us.load(std::memory_order_relaxed);
  if (rate == 0) [[unlikely]] {
    // Connecting alone took longer than is needed to tell the rate to a few percent.
    ClockPair pair = read_pair();
    std::uint64_t ns = pair.ns - g_start.ns;
    bool tsc = g_process.clock == wire::Clock::kTsc && ns > 0;
    rate = tsc ? (pair.tsc - g_start.tsc) * 1000 / ns : 1000;
    if (rate == 0) rate = 1;
    g_stamps_per_us.store(rate, std::memory_order_relaxed);
  }
  return rate * microseconds;
}

}  // namespace headway::inject::io
