// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <string_view>
#include <vector>

#include "common/statistics.h"

namespace headway::bench {

inline bool is_quick(int argc, char** argv) {
  return argc > 1 && std::string_view(argv[1]) == "--quick";
}

/// Median seconds of one call of `body`, over at least `repeats` calls after one to warm up.
template <class Body>
double median_seconds(int repeats, const Body& body) {
  using Clock = std::chrono::steady_clock;
  body();
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    const auto start = Clock::now();
    body();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  return median(seconds);
}

}  // namespace headway::bench
