// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/report/screen.h"

namespace headway::cli {

/// How the one-screen verdict is printed on standard output: its width, and colour on a terminal
/// that is not dumb, unless NO_COLOR is set (https://no-color.org).
analyzer::ScreenOptions screen_style();

}  // namespace headway::cli
