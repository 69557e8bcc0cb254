// SPDX-License-Identifier: MIT
// STREAM's triad: the memory bandwidth of a loop that computes next to nothing.
#include <vector>

#include "cli/calibrate/host/host.h"
#include "cli/calibrate/host/threads.h"

namespace headway::calibrate {

std::optional<FigureValue> measure_host_triad(const Effort& effort, int threads) {
  struct Arrays {
    std::vector<float> a, b, c;
  };
  const std::int64_t all = effort.array_bytes ? effort.array_bytes : array_bytes_beyond_caches();
  const std::size_t count = static_cast<std::size_t>(all / threads) / sizeof(float);
  std::vector<Arrays> of(static_cast<std::size_t>(threads));
  std::vector<double> seconds = time_together(
      threads, effort.repetitions + 1,
      [&](int thread) {
        Arrays& mine = of[static_cast<std::size_t>(thread)];
        mine.a.assign(count, 0.5F);
        mine.b.assign(count, 1.5F);
        mine.c.assign(count, 2.5F);
      },
      [&](int thread) {
        Arrays& mine = of[static_cast<std::size_t>(thread)];
        float* __restrict a = mine.a.data();
        const float* __restrict b = mine.b.data();
        const float* __restrict c = mine.c.data();
        for (std::size_t i = 0; i < count; ++i) a[i] = b[i] + 3.0F * c[i];
        asm volatile("" : : "r"(a) : "memory");
      });
  std::vector<double> rates;
  for (std::size_t i = 1; i < seconds.size(); ++i)  // the first warms up
    rates.push_back(3.0 * sizeof(float) * static_cast<double>(count) * threads / seconds[i]);
  return figure_of(std::move(rates));
}

}  // namespace headway::calibrate
