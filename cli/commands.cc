// SPDX-License-Identifier: MIT
#include "cli/commands/commands.h"

namespace headway::cli {

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> commands;
#define HEADWAY_COMMAND(name) commands.push_back(make_##name##_command());
  HEADWAY_COMMANDS(HEADWAY_COMMAND)
#undef HEADWAY_COMMAND
  return commands;
}

}  // namespace headway::cli
