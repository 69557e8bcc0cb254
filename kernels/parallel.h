// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

namespace headway::kernels {

/// Calls piece(context, i) for each i in [0, pieces), one per thread of the team. Call parallel_for
/// instead.
void run_team(int pieces, void (*piece)(const void* context, int index), const void* context);

/// Calls body(begin, end) on consecutive pieces of [0, count), in parallel on the calling thread's
/// OpenMP team. oneDNN uses the same team, so that there is one set of compute threads. `grain` is
/// the least work that justifies a thread; smaller counts run on the calling thread.
template <class Body>
void parallel_for(std::int64_t count, std::int64_t grain, int max_threads, const Body& body) {
  const std::int64_t useful = std::max<std::int64_t>(1, count / std::max<std::int64_t>(1, grain));
  const int pieces = static_cast<int>(std::min<std::int64_t>(useful, max_threads));
  if (pieces <= 1) {
    if (count > 0) body(std::int64_t{0}, count);
    return;
  }
  auto run = [&](int piece) { body(count * piece / pieces, count * (piece + 1) / pieces); };
  run_team(
      pieces,
      [](const void* context, int piece) { (*static_cast<const decltype(run)*>(context))(piece); },
      &run);
}

/// The number of threads in a parallel region of the calling thread.
int max_threads();
/// Sets that number for the calling thread (each thread has its own).
void set_max_threads(int threads);

/// Number of floats below which a second thread costs more than it saves: a region costs about 2
/// µs, 16 Ki floats are about 8 µs of streaming.
inline constexpr std::int64_t kFlatGrain = 16 * 1024;

}  // namespace headway::kernels
