// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace headway::tune {

/// While it lives, SIGINT, SIGTERM and SIGHUP do not end this process. They end the child that
/// run_child waits for, and run_child then throws Interrupted. One at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The first of them that was received; 0: none.
  static int received();
};

/// How a child ended.
struct ChildResult {
  int status = 0;     ///< exit status, or 128 + the signal that ended it
  std::string out;    ///< its standard output; at most the last 64 MiB
  std::string err;    ///< the last 64 KiB of its standard error
  double wall_s = 0;  ///< from its start to its end
};

/// Runs a program (found in $PATH, or a path) in a process group of its own, with no input. Throws
/// RunTooLong after `limit_s` seconds (0: none) and Interrupted on a signal; all processes of the group
/// have ended by then. Throws Error(kUsage) when the program cannot be started.
ChildResult run_child(const std::vector<std::string>& command, double limit_s);

}  // namespace headway::tune
