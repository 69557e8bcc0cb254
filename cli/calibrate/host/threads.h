// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace headway::calibrate {

/// Monotonic time in nanoseconds.
std::int64_t now_ns();

/// Processors that this process may run on.
int usable_processors();

/// Bytes of one array of a bandwidth measurement: well over the last-level cache, at most 1/16 of
/// memory.
std::int64_t array_bytes_beyond_caches();

/// Runs `prepare(thread)` once and then `work(thread)` `repetitions` times on `threads` threads,
/// which begin each repetition together. Returns the seconds of each repetition, from the first
/// begin to the last end.
std::vector<double> time_together(int threads, int repetitions,
                                  const std::function<void(int)>& prepare,
                                  const std::function<void(int)>& work);

}  // namespace headway::calibrate
