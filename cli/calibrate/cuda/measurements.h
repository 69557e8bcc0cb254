// SPDX-License-Identifier: MIT
#pragma once

#include "cli/calibrate/cuda/session.h"
#include "common/machine_figures.h"

// One function per file of its name; each fills in the figures that it measures and throws Error when the
// driver refuses, with those that it had by then filled in.
namespace headway::calibrate {

/// Period of empty kernels, round trip, wait for an idle stream.
void measure_launches(Session& session, FigureSet& figures);
/// Both ways, pinned and pageable.
void measure_copies(Session& session, FigureSet& figures);
void measure_device_triad(Session& session, FigureSet& figures);
/// Products in FP32, TF32, FP16 and BF16. Throws when cuBLASLt cannot be loaded.
void measure_gemms(Session& session, FigureSet& figures);

}  // namespace headway::calibrate
