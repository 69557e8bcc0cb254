// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <string>

#include "collector/record/trace_assembler.h"

namespace headway::record {

/// What the user sees on stderr while a recording runs. The recorded program may write to the same
/// terminal, so the progress line, which is drawn again and again, is shown only when standard
/// output goes elsewhere.
class Display {
 public:
  /// `live`: another program shows the progress.
  Display(bool quiet, bool live, std::string file);

  /// To be called when the command runs: names the file.
  void started();
  /// Draws the progress line again, at most once a second.
  void update(const Progress& progress);
  /// To be called when the run is over and the file is not complete yet.
  void finishing();
  /// Removes the progress line and prints `text`.
  void finished(const std::string& text);
  /// Prints a remark at any time; also without a terminal.
  void note(const std::string& line);

 private:
  void clear();
  using Clock = std::chrono::steady_clock;

  bool quiet_;
  bool terminal_;
  bool progress_;
  bool drawn_ = false;
  std::string file_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_;
};

}  // namespace headway::record
