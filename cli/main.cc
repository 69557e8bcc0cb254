// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

#include "cli/command.h"
#include "cli/version.h"
#include "common/tell.h"
#include "common/text.h"

namespace headway::cli {
namespace {

constexpr const char* kDescription =
    "Headway tells what holds each training step back, by how much, and what to do about it.";

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

/// What is wrong with the command line. CLI11's own sentence about words that it has no use for
/// lists "--" among them.
std::string text_of(const CLI::ParseError& error, const CLI::App& app) {
  if (!dynamic_cast<const CLI::ExtrasError*>(&error)) return error.what();
  std::string words;
  for (const std::string& word : app.remaining(true)) {
    if (word != "--") words += (words.empty() ? "" : " ") + word;
  }
  return "there is no option or argument " + words;
}

int main_checked(int argc, char** argv) {
  CLI::App app{kDescription, "headway"};
  app.set_version_flag("--version", fmt::format("headway {}", kVersion));
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  std::vector<std::unique_ptr<Command>> commands = all_commands();
  for (const auto& command : commands) {
    CLI::App* sub =
        app.add_subcommand(std::string(command->name()), std::string(command->summary()));
    sub->get_formatter()->column_width(34);
    command->declare(*sub);
  }
  auto is_argument = [&](const auto& command) { return command->name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' &&
      std::none_of(commands.begin(), commands.end(), is_argument)) {
    tell(fmt::format("headway: '{}' is not a command.{} See `headway --help`.\n",
                     escape_terminal(argv[1]), unknown_command_hint(argv[1], commands)));
    return exit_status(ExitCode::kUsage);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    std::string command = app.get_subcommands().empty()
                              ? "headway"
                              : "headway " + app.get_subcommands().front()->get_name();
    tell(fmt::format("{}: {}. See `{} --help`.\n", command, escape_terminal(text_of(error, app)),
                     command));
    return exit_status(ExitCode::kUsage);
  }
  for (const auto& command : commands) {
    if (app.got_subcommand(std::string(command->name()))) return command->run();
  }
  return exit_status(ExitCode::kUsage);
}

}  // namespace
}  // namespace headway::cli

int main(int argc, char** argv) {
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
