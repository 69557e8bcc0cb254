// SPDX-License-Identifier: MIT
#include "cli/commands/screen_style.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "cli/commands/load_and_analyze.h"

namespace headway::cli {

namespace {

/// mpirun gives its processes a terminal of its own, wherever its output goes.
bool launched_by_mpi() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (std::getenv(name)) return true;
  return false;
}

}  // namespace

bool on_terminal(int descriptor) {
  const char* terminal = std::getenv("TERM");
  if (CapturedOutput::is_on() || !terminal || std::string_view(terminal) == "dumb") return false;
  return !launched_by_mpi() && ::isatty(descriptor) == 1;
}

analyzer::ScreenOptions screen_style() {
  const char* no_colour = std::getenv("NO_COLOR");
  const bool plain = no_colour && *no_colour;
  return {terminal_width(), !plain && on_terminal(STDOUT_FILENO)};
}

}  // namespace headway::cli
