// SPDX-License-Identifier: MIT
#include <time.h>

#include "cli/calibrate/host/host.h"
#include "cli/calibrate/host/threads.h"

namespace headway::calibrate {

std::optional<FigureValue> measure_clock_read(const Effort& effort) {
  constexpr int kReads = 2000;
  std::vector<double> samples;
  for (int i = 0; i < effort.repetitions; ++i) {
    timespec time{};
    const std::int64_t begin = now_ns();
    for (int read = 0; read < kReads; ++read) ::clock_gettime(CLOCK_REALTIME, &time);
    samples.push_back(static_cast<double>(now_ns() - begin) / kReads);
  }
  return figure_of(std::move(samples));
}

}  // namespace headway::calibrate
