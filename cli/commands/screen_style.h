// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/report/screen.h"

namespace headway::cli {

/// Whether somebody reads it there: a terminal that is not dumb, and neither a pipe of our own nor
/// the terminal that a launcher of MPI gives each process.
bool on_terminal(int descriptor);
/// How the one-screen verdict is printed on standard output: its width, and colour on a terminal
/// that is not dumb, unless NO_COLOR is set (https://no-color.org).
analyzer::ScreenOptions screen_style();

}  // namespace headway::cli
