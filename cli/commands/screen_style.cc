// SPDX-License-Identifier: MIT
#include "cli/commands/screen_style.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "cli/commands/load_and_analyze.h"

namespace headway::cli {

namespace {

/// mpirun hands its processes a terminal of its own, whatever its output goes to.
bool launched_by_mpi() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (std::getenv(name)) return true;
  return false;
}

}  // namespace

analyzer::ScreenOptions screen_style() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool plain = CapturedOutput::is_on() || (no_colour && *no_colour) || !terminal ||
                     std::string_view(terminal) == "dumb";
  return {terminal_width(), !plain && !launched_by_mpi() && ::isatty(STDOUT_FILENO) == 1};
}

}  // namespace headway::cli
