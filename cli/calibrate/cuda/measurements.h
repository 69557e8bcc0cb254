// SPDX-License-Identifier: MIT
#pragma once

#include "cli/calibrate/cuda/session.h"
#include "common/machine_figures.h"

// Each function is in the file of its name. It fills in the figures that it measures. When the
// driver refuses, it throws Error; the figures measured by then are filled in.
namespace headway::calibrate {

/// Period of empty kernels, round trip, wake-up from an idle stream.
void measure_launches(Session& session, FigureSet& figures);
/// Both directions, pinned and pageable.
void measure_copies(Session& session, FigureSet& figures);
void measure_device_triad(Session& session, FigureSet& figures);
/// Products in FP32, TF32, FP16 and BF16. Throws when cuBLASLt cannot be loaded.
void measure_gemms(Session& session, FigureSet& figures);

}  // namespace headway::calibrate
