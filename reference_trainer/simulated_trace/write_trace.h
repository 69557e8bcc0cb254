// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "reference_trainer/devices/sim/simulated_run.h"

namespace headway::trainer::sim {

/// Writes a simulated run as Headway's trace files, in the tables of a recorded CUDA program:
/// kernels, copies, API calls, synchronisations, NVTX ranges, collectives. The GPU's name begins
/// with "Simulated", so that nobody mistakes its times for measured ones. The same run gives the
/// same bytes. See WriteTrace.
void write_trace(const SimulatedRun& run, const std::filesystem::path& path);

/// Name of the simulated GPU, by which analyses find the model.
std::string device_name(SimulatedGpu gpu);

}  // namespace headway::trainer::sim
