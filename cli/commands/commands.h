// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "cli/commands/command.h"

// Every command once, in the order of --help. The file of each name defines make_<name>_command().
// clang-format off
#define HEADWAY_COMMANDS(COMMAND) \
  COMMAND(run) \
  COMMAND(record) \
  COMMAND(watch) \
  COMMAND(report) \
  COMMAND(stats) \
  COMMAND(whatif) \
  COMMAND(tune) \
  COMMAND(view) \
  COMMAND(check) \
  COMMAND(diff) \
  COMMAND(history) \
  COMMAND(explain) \
  COMMAND(import) \
  COMMAND(export) \
  COMMAND(doctor) \
  COMMAND(calibrate) \
  COMMAND(mcp) \
  COMMAND(reference)
// clang-format on

namespace headway::cli {

#define HEADWAY_COMMAND(name) std::unique_ptr<Command> make_##name##_command();
HEADWAY_COMMANDS(HEADWAY_COMMAND)
#undef HEADWAY_COMMAND

}  // namespace headway::cli
