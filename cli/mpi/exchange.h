// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "analyzer/job/analyze_job.h"

namespace headway::cli {

/// Connects this process with the others that `mpirun` or `srun` started; a process alone gets a
/// trivial exchange. All use of MPI is behind this function. Throws Error(kUsage) when several were
/// started and this build has no MPI.
std::unique_ptr<analyzer::Exchange> make_exchange();

}  // namespace headway::cli
