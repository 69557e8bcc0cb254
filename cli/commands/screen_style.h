// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/report/screen.h"

namespace headway::cli {

/// Whether the output is read directly: the descriptor is a terminal that is not dumb, not a pipe
/// of our own and not the terminal that an MPI launcher gives each process.
bool on_terminal(int descriptor);
/// How the one-screen verdict is printed on standard output: its width, and colour on a terminal
/// that is not dumb, unless NO_COLOR is set (https://no-color.org).
analyzer::ScreenOptions screen_style();

}  // namespace headway::cli
