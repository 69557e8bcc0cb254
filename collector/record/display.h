// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <string>

#include "collector/record/trace_assembler.h"

namespace headway::record {

/// What the user sees on stderr while a recording runs. The recorded program's own output goes to
/// the same terminal, so a line that is drawn over and over is only shown when its standard output
/// goes elsewhere.
class Display {
 public:
  /// `live`: somebody else shows how the run goes.
  Display(bool quiet, bool live, std::string file);

  /// The command runs: names the file.
  void started();
  /// Draws the line anew, once a second at most.
  void update(const Progress& progress);
  /// The run is over, the file not yet whole.
  void finishing();
  /// Removes what is drawn, prints the lines.
  void finished(const std::string& text);
  /// A remark before or between; also without a terminal.
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
