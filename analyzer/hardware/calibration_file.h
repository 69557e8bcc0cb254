// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "common/machine_figures.h"

/// The file that `headway calibrate` writes: JSON, described in docs/user-guide/calibrate.md.
namespace headway::analyzer {

inline constexpr int kCalibrationVersion = 1;

std::string to_json(const MachineCalibration& calibration);

/// Throws Error(kBadInput) that names the file, the place in it, what was expected and what to do, when the
/// file cannot be read, is not a calibration, is damaged, or was written by a newer Headway.
MachineCalibration read_calibration(const std::filesystem::path& file);

/// $XDG_CONFIG_HOME/headway/calibration.json, else the same under $HOME/.config; empty when neither is set.
std::filesystem::path default_calibration_file();

}  // namespace headway::analyzer
