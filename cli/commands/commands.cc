// SPDX-License-Identifier: MIT
#include "cli/commands/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace headway::cli {

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> commands;
#define HEADWAY_COMMAND(name) commands.push_back(make_##name##_command());
  HEADWAY_COMMANDS(HEADWAY_COMMAND)
#undef HEADWAY_COMMAND
  return commands;
}

void declare(Command& command, CLI::App& app) {
  constexpr std::size_t kColumn = 34;      // column of the option texts
  constexpr std::size_t kWidestLine = 72;  // longest option that has its text on the same line
  app.get_formatter()->column_width(kColumn);
  command.declare(app);
  const std::vector<Example> examples = command.examples();
  if (examples.empty()) return;
  std::size_t column = 0;
  for (const Example& example : examples) {
    if (!example.text.empty() && example.line.size() <= kWidestLine)
      column = std::max(column, example.line.size());
  }
  std::string text = "Examples:\n";
  for (const Example& example : examples) {
    text += "  " + std::string(example.line);
    if (!example.text.empty()) {
      text.append(column > example.line.size() ? column - example.line.size() : 0, ' ');
      text += "   # " + std::string(example.text);
    }
    text += '\n';
  }
  const std::string remarks = app.get_footer();
  app.footer(remarks.empty() ? text : text + "\n" + remarks);
}

}  // namespace headway::cli
