// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

#include "cli/commands/command.h"
#include "cli/commands/version.h"
#include "cli/commit.h"
#include "common/allocator.h"
#include "common/tell.h"
#include "common/text.h"

namespace headway::cli {
namespace {

constexpr const char* kDescription =
    "Headway shows what limits each training step, by how much, and what to change.";

/// "headway reprot" -> did you mean 'report'?
std::string unknown_command_hint(const std::string& word,
                                 const std::vector<std::unique_ptr<Command>>& commands) {
  std::vector<std::string> names;
  for (const auto& command : commands) names.emplace_back(command->name());
  std::string hint;
  for (const std::string& name : closest(word, names, 1))
    hint = fmt::format(" Did you mean '{}'?", name);
  return hint;
}

/// The command whose arguments were being parsed: the program or its subcommand.
const CLI::App& parsed(const CLI::App& app) {
  std::vector<const CLI::App*> commands =
      app.get_subcommands([](const CLI::App* sub) { return sub->parsed(); });
  return commands.empty() ? app : *commands.front();
}

/// --fromat -> '--fromat' is not an option. Did you mean '--format'?
std::string unexpected(const CLI::App& app) {
  std::vector<std::string> rest = app.remaining();
  auto option = std::find_if(rest.begin(), rest.end(), [](const std::string& word) {
    return word.starts_with("-") && word != "--";
  });
  if (option == rest.end()) return fmt::format("unexpected argument '{}'", rest.front());
  std::vector<std::string> names;
  for (const CLI::Option* known : app.get_options()) {
    for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
  }
  std::string hint;
  for (const std::string& name : closest(*option, names, 1))
    hint = fmt::format(". Did you mean '{}'?", name);
  return fmt::format("'{}' is not an option{}", *option, hint);
}

int main_checked(int argc, char** argv) {
  CLI::App app{kDescription, "headway"};
  app.set_version_flag("--version", fmt::format("headway {}{}", kVersion, kCommit));
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  std::vector<std::unique_ptr<Command>> commands = all_commands();
  for (const auto& command : commands) {
    CLI::App* sub =
        app.add_subcommand(std::string(command->name()), std::string(command->summary()));
    declare(*command, *sub);
  }
  auto is_argument = [&](const auto& command) { return command->name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' &&
      std::none_of(commands.begin(), commands.end(), is_argument)) {
    tell(fmt::format("headway: '{}' is not a command.{} See `headway --help`.\n",
                     escape_terminal(argv[1]), unknown_command_hint(argv[1], commands)));
    return exit_status(ExitCode::kUsage);
  }
  if (argc == 1) {
    tell(app.help());
    return exit_status(ExitCode::kUsage);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    const CLI::App& command = parsed(app);
    std::string name =
        &command == &app ? app.get_name() : app.get_name() + " " + command.get_name();
    bool extras = !command.remaining().empty() && (dynamic_cast<const CLI::ExtrasError*>(&error) ||
                                                   dynamic_cast<const CLI::RequiredError*>(&error));
    std::string text = extras ? unexpected(command) : error.what();
    fail_usage("{}{} See `{} --help`.", text, text.ends_with('?') ? "" : ".", name);
  }
  for (const auto& command : commands) {
    if (app.got_subcommand(std::string(command->name()))) return command->run();
  }
  return exit_status(ExitCode::kUsage);
}

}  // namespace
}  // namespace headway::cli

int main(int argc, char** argv) {
  headway::keep_freed_memory();
  try {
    return headway::cli::main_checked(argc, argv);
  } catch (const headway::Error& error) {
    headway::tell(fmt::format("headway: {}\n", headway::escape_terminal(error.what())));
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    headway::tell("headway: out of memory.\n");
  } catch (const std::exception& error) {
    headway::tell(fmt::format("headway: internal error: {}. Please report this.\n", error.what()));
  }
  return static_cast<int>(headway::ExitCode::kInternal);
}
