// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "reference_trainer/switches/switches.h"

namespace headway::trainer {

/// What the command line asks for.
struct CommandLine {
  EffectiveSettings settings;
  std::string text;         ///< the arguments, joined by spaces
  std::string metrics;      ///< file; empty: none
  std::string trace;        ///< file of a simulated run's trace; empty: none
  std::string calibration;  ///< file of the simulated GPU's figures; empty: none
  std::string oracle;       ///< file of what is known to be true about the run; empty: none
  bool quiet = false;
  bool explain = false;              ///< print the settings and stop
  bool print_graph = false;          ///< print the op graph and stop
  bool switches = false;             ///< print all switches with their values as JSON and stop
  bool measure_collectives = false;  ///< time the collectives between the ranks and stop
  bool reference = false;            ///< print docs/reference/trainer.md and stop
};

/// Parses the arguments with the options made from the switch list. Returns an exit status instead
/// when the program should end now (--help, --version, a wrong command line, already reported).
std::optional<int> parse_command_line(int argc, const char* const* argv, CommandLine& into);

}  // namespace headway::trainer
