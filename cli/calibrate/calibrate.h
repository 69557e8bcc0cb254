// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "cli/calibrate/effort.h"
#include "common/machine_figures.h"

namespace headway::calibrate {

/// Measures this machine's processors and memory: about two seconds, of which all processors are busy one.
/// Names and sizes are the caller's to fill in. What could not be measured is listed as absent.
MeasuredHost measure_host(const Effort& effort = {});

/// What the GPUs of this machine gave.
struct CudaMeasurement {
  std::vector<MeasuredDevice> devices;  ///< the first of each name
  std::string missing;  ///< why there is none: "libcuda.so.1 is not found, …"; empty with devices
};

/// Measures every kind of GPU that the driver shows: some seconds each, about 1 GiB of its memory. Leaves
/// clocks and settings as they are. Never throws for what a driver does; figures that failed are absent.
CudaMeasurement measure_cuda();

/// For recording: launches on the first GPU of that name what shows launch latency, kernel gap and
/// wake-up, 200 times each. Throws Error when it cannot.
void run_launches(const std::string& device_name);

}  // namespace headway::calibrate
