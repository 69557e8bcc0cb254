// SPDX-License-Identifier: MIT
#include "cli/command.h"
#include "cli/commands/record.h"

namespace headway::cli {

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_record());
  return commands;
}

}  // namespace headway::cli
