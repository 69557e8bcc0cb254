// SPDX-License-Identifier: MIT
// Built without MPI (HEADWAY_MPI=OFF).
#include "cli/mpi/exchange.h"
#include "cli/mpi/launched.h"
#include "common/error.h"

namespace headway::cli {

std::unique_ptr<analyzer::Exchange> make_exchange() {
  Launched job = launched();
  if (job.count > 1)
    fail_usage(
        "{} processes were started, but this headway was built without MPI, so each would repeat "
        "the whole analysis. Start it without mpirun, or build with -DHEADWAY_MPI=ON.",
        job.count);
  return std::make_unique<analyzer::Alone>();
}

}  // namespace headway::cli
