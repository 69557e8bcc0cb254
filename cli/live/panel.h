// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/live/figures.h"

namespace headway::cli::live {

struct PanelStyle {
  std::size_t width = 80;
  std::size_t height = 8;  ///< maximum number of lines
  bool colour = false;     ///< ANSI escapes: bold, and the colours of the time classes
};

/// The panel's lines, each at most `width` columns, without line ends. Lines and parts that do not
/// fit are left out, the least important first. Names of the recorded program are escaped for a
/// terminal.
std::vector<std::string> panel(const Figures& figures, const PanelStyle& style);

/// The same in one plain line, for logs.
std::string plain_line(const Figures& figures);

/// A sentence that says how the run ended, with the command to use next.
std::string closing_line(const Figures& figures);

}  // namespace headway::cli::live
