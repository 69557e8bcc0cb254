// SPDX-License-Identifier: MIT
#pragma once

#include <signal.h>

#include "cli/live/follower.h"

namespace headway::cli::live {

enum class Place : std::uint8_t {
  kLines,       ///< one plain line per refresh
  kRegion,      ///< the last lines of a terminal to which the run also writes
  kFullScreen,  ///< the whole terminal
};

struct ShowOptions {
  int fd = 1;
  Place place = Place::kLines;
  double seconds = 0;  ///< time between two refreshes; 0: 1 on a terminal, 10 for lines
  /// If set, the display ends only when the other end of this descriptor is closed; -1: it ends
  /// with the run or on a signal.
  int until_closed = -1;
};

/// Blocks the signals that a display handles, in this thread and in threads made later, so that the
/// terminal is restored before the process stops or ends.
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

/// Shows the figures of a Follower until the run ends or the user leaves.
Ended show(const Follower& follower, const ShowOptions& options, const DisplaySignals& signals);

}  // namespace headway::cli::live
