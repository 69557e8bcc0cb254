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
  TraceSource source;     ///< without files: the window asks
  bool follow = false;    ///< the trace is being recorded: read it again as it grows
  bool no_cache = false;  ///< neither read nor write snapshots
  std::optional<std::filesystem::path> second;  ///< to compare with
  /// PNG, or SVG by its name; then the program ends.
  std::optional<std::filesystem::path> screenshot;
  std::optional<std::filesystem::path> csv;  ///< "-": standard output
  std::optional<Page> page;                  ///< to open with
  std::optional<QSize> size;                 ///< of the window, in logical pixels
  std::optional<Interval> range;             ///< time to select on the timeline
  std::string at;  ///< a place on the timeline as the go-to bar takes it: "2.94s", "step 7"
  std::optional<bool> dark;  ///< none: as the settings say
  analyzer::AnalysisOptions analysis;
  std::string find;     ///< a name to search for and select
  std::string finding;  ///< a rule: its finding, or on the timeline its first evidence
  std::string
      list;  ///< below the timeline: "hits" of `find`, "rows" of `range`, "stacks" of the host; empty: none
  std::vector<std::string> fixes;  ///< to tick together
  bool predicted = false;          ///< with `finding`: a step as it would be with its fix

  /// Nothing is shown: files are written, and the program ends.
  bool writes_files() const { return screenshot || csv; }
};

/// Thrown after --help or --version were printed: leave with `status`.
struct Leave {
  int status = 0;
};

/// Throws Error(kUsage) that names what was expected, or Leave.
Options parse_options(int argc, char** argv);

}  // namespace headway::gui
