// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "reference_trainer/devices/sim/simulated_run.h"

namespace headway::trainer::sim {

/// Writes the simulated GPU's figures, from its cost model, in the form in which `headway
/// calibrate` would have measured them (docs/user-guide/calibrate.md). There are no figures of the
/// host, which is real. Throws Error naming the file.
void write_calibration(const SimulatedRun& run, const std::filesystem::path& path);

}  // namespace headway::trainer::sim
