// SPDX-License-Identifier: MIT
#include "cli/calibrate/host/threads.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <thread>

namespace headway::calibrate {

std::int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

int usable_processors() {
  cpu_set_t allowed;
  const int count = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0
                        ? CPU_COUNT(&allowed)
                        : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  return std::max(1, count);
}

std::int64_t array_bytes_beyond_caches() {
  constexpr std::int64_t kLeast = 64 << 20;
  constexpr std::int64_t kMost = 512 << 20;
  const std::int64_t cache = std::max<std::int64_t>(0, ::sysconf(_SC_LEVEL3_CACHE_SIZE));
  const std::int64_t memory =
      std::int64_t{::sysconf(_SC_AVPHYS_PAGES)} * std::int64_t{::sysconf(_SC_PAGESIZE)};
  const std::int64_t bytes =
      std::min({std::max(kLeast, 2 * cache), kMost, std::max<std::int64_t>(memory / 16, 1 << 20)});
  return bytes & ~std::int64_t{4095};
}

std::vector<double> time_together(int threads, int repetitions,
                                  const std::function<void(int)>& prepare,
                                  const std::function<void(int)>& work) {
  std::vector<double> seconds;
  std::int64_t began = 0;
  // The last thread to arrive calls this, once before and once after each repetition.
  auto stamp = [&, running = false]() mutable noexcept {
    const std::int64_t now = now_ns();
    if (running) seconds.push_back(static_cast<double>(now - began) * 1e-9);
    began = now;
    running = !running;
  };
  seconds.reserve(static_cast<std::size_t>(repetitions));
  std::barrier together(threads, stamp);
  auto run = [&](int thread) {
    prepare(thread);
    for (int i = 0; i < repetitions; ++i) {
      together.arrive_and_wait();
      work(thread);
      together.arrive_and_wait();
    }
  };
  std::vector<std::jthread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
  run(0);
  return seconds;
}

}  // namespace headway::calibrate
