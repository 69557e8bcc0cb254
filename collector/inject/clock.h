// SPDX-License-Identifier: MIT
#pragma once

#include <time.h>

#include <cstdint>

#include "collector/wire/layout.h"

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace headway::inject {

/// clock_gettime of the vDSO, called without the C library around it; the C library's function
/// where there is no vDSO.
using ReadClock = int (*)(clockid_t, timespec*);
extern constinit ReadClock g_read_clock;
/// Sets g_read_clock. It asks the loader, so do not call it where the loader's lock may be held.
void find_clock();

/// The time stamp of an event. Measured cost: 12 ns for the time-stamp counter, 27 ns for
/// clock_gettime (vDSO).
inline std::uint64_t now(wire::Clock clock) {
#ifdef __x86_64__
  if (clock == wire::Clock::kTsc) return __rdtsc();
#else
  (void)clock;
#endif
  timespec time;
  g_read_clock(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace headway::inject
