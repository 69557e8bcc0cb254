// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "cli/calibrate/effort.h"
#include "common/machine_figures.h"

// Each function is in the file of its name, leaves nothing behind, and throws only if memory runs
// out.
namespace headway::calibrate {

std::optional<FigureValue> measure_wake_up(const Effort& effort);
std::optional<FigureValue> measure_clock_read(const Effort& effort);
std::optional<FigureValue> measure_host_copy(const Effort& effort, int threads);
std::optional<FigureValue> measure_host_triad(const Effort& effort, int threads);
std::optional<FigureValue> measure_host_fp32(const Effort& effort, int threads);

}  // namespace headway::calibrate
