// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/commands/commands.h"

namespace headway::cli {
namespace {

constexpr const char* kProgram = "headway-gui";

class ViewFormatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: headway view [TRACE] [OPTIONS of headway-gui]\n";
  }
};

/// Possible places of headway-gui: beside this program; in the wheel `headway-gui` beside the wheel
/// `headway` (site-packages/headway/bin and headway_gui/bin); or on PATH.
std::vector<std::string> places() {
  std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  std::filesystem::path wheels = folder.parent_path().parent_path();
  return {(folder / kProgram).string(), (wheels / "headway_gui" / "bin" / kProgram).string(),
          kProgram};
}

/// headway-gui is a separate program, so that `headway` needs no Qt: this command finds and
/// executes it.
class ViewCommand final : public Command {
 public:
  std::string_view name() const override { return "view"; }
  std::string_view summary() const override {
    return "Open a trace in the timeline, or export a picture of it";
  }
  /// headway-gui prints its examples and options itself.
  std::vector<Example> examples() const override { return {}; }

  void declare(CLI::App& app) override {
    app_ = &app;
    app.formatter(std::make_shared<ViewFormatter>());
    app.set_help_flag();  // --help is passed on to the program
    app.prefix_command();
    app.footer("All arguments are passed to headway-gui: see `headway view --help`.");
  }

  int run() override {
    std::string program = kProgram;
    std::vector<std::string> words = app_->remaining();
    std::vector<char*> arguments{program.data()};
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    for (const std::string& place : places()) {
      ::execvp(place.c_str(), arguments.data());
      if (errno != ENOENT) fail_usage("{}: cannot start: {}.", place, std::strerror(errno));
    }
    fail_usage(
        "headway-gui is not installed. Install the wheel (pip install headway_gui-*.whl) or the "
        "Debian package (apt install ./headway-gui_*.deb) from scripts/build_packages.sh, or build "
        "with -DHEADWAY_GUI=ON. Without it: `headway report TRACE -o report.html`.");
  }

 private:
  CLI::App* app_ = nullptr;
};

}  // namespace

std::unique_ptr<Command> make_view_command() {
  return std::make_unique<ViewCommand>();
}

}  // namespace headway::cli
