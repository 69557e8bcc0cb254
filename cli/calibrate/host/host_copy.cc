// SPDX-License-Identifier: MIT
#include <cstring>
#include <vector>

#include "cli/calibrate/host/host.h"
#include "cli/calibrate/host/threads.h"

namespace headway::calibrate {

std::optional<FigureValue> measure_host_copy(const Effort& effort, int threads) {
  const std::int64_t all = effort.array_bytes ? effort.array_bytes : array_bytes_beyond_caches();
  const auto bytes = static_cast<std::size_t>(all / threads);
  std::vector<std::vector<char>> from(static_cast<std::size_t>(threads)), to(from.size());
  // Each thread touches its memory first, so that the pages are local to its processor.
  std::vector<double> seconds = time_together(
      threads, effort.repetitions + 1,
      [&](int thread) {
        from[static_cast<std::size_t>(thread)].assign(bytes, 'h');
        to[static_cast<std::size_t>(thread)].assign(bytes, 'w');
      },
      [&](int thread) {
        const auto i = static_cast<std::size_t>(thread);
        std::memcpy(to[i].data(), from[i].data(), bytes);
        asm volatile("" : : "r"(to[i].data()) : "memory");
      });
  std::vector<double> rates;
  for (std::size_t i = 1; i < seconds.size(); ++i)  // the first warms up
    rates.push_back(static_cast<double>(bytes) * threads / seconds[i]);
  return figure_of(std::move(rates));
}

}  // namespace headway::calibrate
