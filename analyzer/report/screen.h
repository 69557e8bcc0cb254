// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "analyzer/analysis.h"

namespace headway::analyzer {

struct ScreenOptions {
  std::size_t width = 100;
  bool colour = false;  ///< ANSI escapes: bold, and the colours of the time classes
};

/// The verdict on one screen, at most kScreenLines lines: what holds the step back, where its time
/// goes, up to three changes with the step that each would give, what to doubt. The full report has
/// the rest. Deterministic; names of the recorded program are made inert for a terminal.
std::string render_screen(const trace::Trace& trace, const Analysis& analysis,
                          const ScreenOptions& options);

inline constexpr std::size_t kScreenLines = 22;  ///< leaves two lines for the caller

}  // namespace headway::analyzer
