// SPDX-License-Identifier: MIT
// One thread sleeps on a futex and another wakes it: the delay that a blocked call adds after the
// event that it waits for.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "cli/calibrate/host/host.h"
#include "cli/calibrate/host/threads.h"

namespace headway::calibrate {
namespace {

/// Long enough for the other thread to be asleep, and its processor to be in a shallow idle state, as in
/// a training step.
constexpr std::chrono::microseconds kAsleep{200};

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr, nullptr,
            0);
}

}  // namespace

std::optional<FigureValue> measure_wake_up(const Effort& effort) {
  const auto count = static_cast<std::uint32_t>(effort.wake_ups);
  std::atomic<std::uint32_t> turn = 0;
  std::atomic<std::uint32_t> awake = 0;
  std::vector<std::int64_t> woken(count);
  std::vector<double> delays;
  delays.reserve(count);
  std::jthread sleeper([&] {
    for (std::uint32_t i = 0; i < count; ++i) {
      while (turn.load() == i) futex(turn, FUTEX_WAIT_PRIVATE, i);
      woken[i] = now_ns();
      awake.store(i + 1);
    }
  });
  for (std::uint32_t i = 0; i < count; ++i) {
    std::this_thread::sleep_for(kAsleep);
    const std::int64_t called = now_ns();
    turn.store(i + 1);
    futex(turn, FUTEX_WAKE_PRIVATE, 1);
    while (awake.load() != i + 1) std::this_thread::yield();
    delays.push_back(static_cast<double>(woken[i] - called));
  }
  return figure_of(std::move(delays));
}

}  // namespace headway::calibrate
