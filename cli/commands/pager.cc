// SPDX-License-Identifier: MIT
#include "cli/commands/pager.h"

#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "cli/commands/load_and_analyze.h"
#include "cli/commands/screen_style.h"

namespace headway::cli {
namespace {

constexpr int kNotFound = 127;  ///< exit status of a shell

bool g_no_pager = false;  ///< a process runs one command once

std::string_view pager() {
  for (const char* name : {"HEADWAY_PAGER", "PAGER"})
    if (const char* value = std::getenv(name)) return value;
  return "less";
}

bool fits_on_terminal(std::string_view text) {
  struct winsize size {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return true;
  // `<`, not `<=`: the shell prompt takes one line.
  return std::count(text.begin(), text.end(), '\n') < size.ws_row;
}

/// False when there is no such program.
bool page(const std::string& program, std::string_view text) {
  // As git does: quit if the text fits one screen, keep colours, leave the text on the screen.
  ::setenv("LESS", "FRX", 0);
  std::FILE* pipe = ::popen(program.c_str(), "w");
  if (!pipe) return false;
  // Leaving the pager early is not an error, and Ctrl-C belongs to the pager while it runs.
  auto* const on_pipe = std::signal(SIGPIPE, SIG_IGN);
  auto* const on_interrupt = std::signal(SIGINT, SIG_IGN);
  std::fwrite(text.data(), 1, text.size(), pipe);
  const int status = ::pclose(pipe);
  std::signal(SIGPIPE, on_pipe);
  std::signal(SIGINT, on_interrupt);
  return !(WIFEXITED(status) && WEXITSTATUS(status) == kNotFound);
}

}  // namespace

void declare_pager(CLI::App& app) {
  app.add_flag("--no-pager", g_no_pager, "Print on the terminal at once, however long it is");
}

void show(const std::string& path, const std::string& text) {
  const std::string program(pager());
  const bool wanted = !g_no_pager && path == "-" && !program.empty() && program != "cat";
  if (wanted && on_terminal(STDOUT_FILENO) && !fits_on_terminal(text) && page(program, text))
    return;
  write_output(path, text);
}

}  // namespace headway::cli
