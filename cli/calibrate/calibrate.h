// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "cli/calibrate/effort.h"
#include "common/machine_figures.h"

namespace headway::calibrate {

/// Measures this machine's processors and memory: takes about two seconds and keeps all processors
/// busy for one of them. The caller fills in names and sizes. Figures that could not be measured
/// are listed as absent.
MeasuredHost measure_host(const Effort& effort = {});

/// What was measured on the GPUs of this machine.
struct CudaMeasurement {
  std::vector<MeasuredDevice> devices;  ///< the first GPU of each name
  std::string missing;  ///< why there are none: "libcuda.so.1 is not found, …"; empty: there are
};

/// Measures one GPU of each name that the driver shows: some seconds each, about 1 GiB of its
/// memory. Does not change clocks or settings. Never throws for a driver error: the figures that
/// failed are absent.
CudaMeasurement measure_cuda();

/// The workload that add_recorded_launches() records: launches kernels on the first GPU of that
/// name, 200 times for each of launch latency, kernel gap and wake-up. Throws Error when it cannot.
void run_launches(const std::string& device_name);

}  // namespace headway::calibrate
