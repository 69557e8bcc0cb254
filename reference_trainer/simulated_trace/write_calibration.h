// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "reference_trainer/devices/sim/simulated_run.h"

namespace headway::trainer::sim {

/// Writes the simulated GPU's figures as `headway calibrate` would have measured them, from its cost model
/// (docs/user-guide/calibrate.md). The host, which is real, has no figures. Throws Error naming the file.
void write_calibration(const SimulatedRun& run, const std::filesystem::path& path);

}  // namespace headway::trainer::sim
