// SPDX-License-Identifier: MIT
#include "cli/calibrate/calibrate.h"
#include "cli/calibrate/host/host.h"
#include "cli/calibrate/host/threads.h"

namespace headway::calibrate {

MeasuredHost measure_host(const Effort& effort) {
  const int threads = usable_processors();
  MeasuredHost host;
  FigureSet& figures = host.figures;
  figures[MachineFigure::kWakeUp] = measure_wake_up(effort);
  figures[MachineFigure::kClockRead] = measure_clock_read(effort);
  figures[MachineFigure::kHostCopy] = measure_host_copy(effort, 1);
  figures[MachineFigure::kHostCopyAll] = measure_host_copy(effort, threads);
  figures[MachineFigure::kHostTriad] = measure_host_triad(effort, threads);
  figures[MachineFigure::kHostFp32] = measure_host_fp32(effort, threads);
  return host;
}

}  // namespace headway::calibrate
