// SPDX-License-Identifier: MIT
#include "collector/inject/io/sums.h"

#include <time.h>

#include <cstring>

#include "collector/inject/clock.h"

namespace headway::inject::io {

constinit ThreadSums g_sums[wire::kMaxRings] = {};
constinit std::atomic<std::uint64_t> g_stamps_per_us{0};

namespace {

struct ClockPair {
  std::uint64_t tsc;
  std::uint64_t ns;
};
constinit ClockPair g_start{};
ClockPair read_pair() {
  timespec time;
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return {now(wire::Clock::kTsc), static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
                                      static_cast<std::uint64_t>(time.tv_nsec)};
}

void write_sum(ThreadState& thread, IoEvent& sum) {
  IoEvent event = sum;
  if (event.calls == 1) event.detail = 0;
  sum.calls = 0;
  // When the ring has no room, the sum stays counted as pending.
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

void add_to_sum(ThreadState& thread, const IoEvent& event) {
  IoEvent& sum = sums_of(thread).sums[ThreadSums::place(event)];
  if (extend_sum(thread, event)) return;
  if (sum.calls > 0) write_sum(thread, sum);
  sum = event;
  sum.detail = event.end - event.start;
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

std::uint64_t measure_stamps_per_us() {
  // Connecting took long enough since start_rate() to know the rate to a few percent.
  ClockPair pair = read_pair();
  std::uint64_t ns = pair.ns - g_start.ns;
  bool tsc = g_process.clock == wire::Clock::kTsc && ns > 0;
  std::uint64_t rate = tsc ? (pair.tsc - g_start.tsc) * 1000 / ns : 1000;
  if (rate == 0) rate = 1;
  g_stamps_per_us.store(rate, std::memory_order_relaxed);
  return rate;
}

}  // namespace headway::inject::io
