// SPDX-License-Identifier: MIT
#include "cli/commands/screen_style.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "cli/commands/load_and_analyze.h"

namespace headway::cli {

analyzer::ScreenOptions screen_style() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool plain = (no_colour && *no_colour) || !terminal || std::string_view(terminal) == "dumb";
  return {terminal_width(), !plain && ::isatty(STDOUT_FILENO) == 1};
}

}  // namespace headway::cli
