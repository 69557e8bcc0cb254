// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "common/error.h"

namespace CLI {
class App;
}

namespace headway::cli {

/// A command line as a user types it.
struct Example {
  std::string_view line;
  std::string_view text;  ///< what it does; empty where the line is self-explanatory
};

/// One subcommand: `headway <name> …`. Each is one class in one file of cli/commands/, listed in
/// commands/commands.h. Options are declared once, in `declare`: the parser, --help, shell completion and
/// docs/reference/cli.md all come from that declaration.
class Command {
 public:
  virtual ~Command() = default;
  virtual std::string_view name() const = 0;
  /// One sentence for the list of commands.
  virtual std::string_view summary() const = 0;
  /// The most common use first; --help, the manual page and docs/reference/cli.md show them.
  virtual std::vector<Example> examples() const = 0;
  /// Adds options and positionals, bound to members of this object.
  virtual void declare(CLI::App& app) = 0;
  /// Runs after parsing. Throws headway::Error for problems that the user can fix. The return value
  /// becomes the exit status; `record` returns that of the recorded program.
  virtual int run() = 0;
};

/// All commands in the order in which --help lists them.
std::vector<std::unique_ptr<Command>> all_commands();

/// Declares everything that --help shows of a command: options, examples, closing remarks.
void declare(Command& command, CLI::App& app);

inline int exit_status(ExitCode code) {
  return static_cast<int>(code);
}

}  // namespace headway::cli
