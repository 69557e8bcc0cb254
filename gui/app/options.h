// SPDX-License-Identifier: MIT
#pragma once

#include <QSize>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/time.h"
#include "gui/pages/main_window.h"

namespace headway::gui {

/// The command line of headway-gui.
struct Options {
  TraceSource source;     ///< without files: the window shows the start page
  bool follow = false;    ///< the trace is being recorded: read it again as it grows
  bool no_cache = false;  ///< neither read nor write snapshots
  std::optional<std::filesystem::path> second;  ///< the trace to compare with
  /// File for a picture, SVG or PNG by its suffix; the program then exits.
  std::optional<std::filesystem::path> screenshot;
  std::optional<std::filesystem::path> csv;  ///< file for CSV, "-": standard output
  std::optional<Page> page;                  ///< to open with
  std::optional<QSize> size;                 ///< of the window, in logical pixels
  std::optional<Interval> range;             ///< time to select on the timeline
  std::string at;  ///< a place on the timeline in the syntax of the go-to bar: "2.94s", "step 7"
  std::optional<bool> dark;  ///< none: as in the settings
  analyzer::AnalysisOptions analysis;
  std::string find;     ///< a name to search for and select
  std::string finding;  ///< id of a rule: opens its finding, or on the timeline its first evidence
  std::string
      list;  ///< below the timeline: "hits" of `find`, "rows" of `range`, "stacks" of the host; empty: none
  std::vector<std::string> fixes;  ///< fixes to tick
  bool predicted = false;          ///< with `finding`: show the predicted step with its fix

  /// True if no window is shown: the program writes files and exits.
  bool writes_files() const { return screenshot || csv; }
};

/// Thrown after --help or --version was printed: exit with `status`.
struct Leave {
  int status = 0;
};

/// Throws Error(kUsage) that names what was expected, or Leave.
Options parse_options(int argc, char** argv);

}  // namespace headway::gui
