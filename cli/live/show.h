// SPDX-License-Identifier: MIT
#pragma once

#include <signal.h>

#include "cli/live/follower.h"

namespace headway::cli::live {

enum class Place : std::uint8_t {
  kLines,       ///< one plain line now and then
  kRegion,      ///< the last lines of a terminal that the run writes to
  kFullScreen,  ///< a terminal of its own
};

struct ShowOptions {
  int fd = 1;
  Place place = Place::kLines;
  double seconds = 0;  ///< between two refreshes; 0: 1 on a terminal, 10 for lines
  /// Ends the display when its other end is closed, and nothing else does; -1: the run's end and
  /// signals do.
  int until_closed = -1;
};

/// The signals that a display answers, blocked for this thread and those made after it: a terminal
/// is restored before it stops or ends.
class DisplaySignals {
 public:
  DisplaySignals();
  ~DisplaySignals();
  DisplaySignals(const DisplaySignals&) = delete;
  DisplaySignals& operator=(const DisplaySignals&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
  sigset_t before_;
};

enum class Ended : std::uint8_t { kRun, kAsked, kNobodyReads };

/// Shows what a Follower finds until the run ends or somebody asks to leave.
Ended show(const Follower& follower, const ShowOptions& options, const DisplaySignals& signals);

}  // namespace headway::cli::live
