// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "analyzer/job/analyze_job.h"

namespace headway::cli {

/// The processes that `mpirun` or `srun` started beside this one, or this one alone. The only place
/// that knows of MPI. Throws Error(kUsage) when several were started and this build has no MPI.
std::unique_ptr<analyzer::Exchange> make_exchange();

}  // namespace headway::cli
