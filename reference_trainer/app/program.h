// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/devices/sim/simulated_run.h"

namespace headway::trainer {

/// What the program passes to the trainer, which must not depend on it: the writers of Headway's
/// files of simulated runs.
struct ProgramParts {
  sim::WriteTrace write_trace;
  sim::WriteTrace write_calibration;
};

/// Runs `headway-train` with these arguments, reports errors, and returns the exit status.
int run_program(int argc, const char* const* argv, const ProgramParts& parts);

}  // namespace headway::trainer
