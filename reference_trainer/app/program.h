// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/devices/sim/simulated_run.h"

namespace headway::trainer {

/// What the program uses and the trainer must not know: who writes files of simulated runs for Headway.
struct ProgramParts {
  sim::WriteTrace write_trace;
  sim::WriteTrace write_calibration;
};

/// `headway-train` with these arguments; returns its exit status. Errors have been reported.
int run_program(int argc, const char* const* argv, const ProgramParts& parts);

}  // namespace headway::trainer
