// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <csignal>
#include <string>

#include <unistd.h>

#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"
#include "cli/commands/mcp_tools.h"
#include "cli/commands/version.h"

namespace headway::cli {
namespace {

constexpr std::size_t kMostBytes = 8u << 20;  ///< limit of one message

class Mcp final : public Command {
 public:
  std::string_view name() const override { return "mcp"; }
  std::string_view summary() const override {
    return "Serve report, stats, whatif, diff and explain to an assistant (Model Context Protocol)";
  }
  std::vector<Example> examples() const override {
    return {{"headway mcp < requests.jsonl",
             "one JSON-RPC message per line; assistants start it themselves"}};
  }

  void declare(CLI::App& app) override {
    app.footer(
        "Speaks JSON-RPC on standard input and output, and ends with its input. An assistant "
        "starts it: command `headway`, argument `mcp`.");
  }

  int run() override {
    ::signal(SIGPIPE, SIG_IGN);
    mcp::Server server(kVersion, mcp::command_tools());
    std::string line;
    bool too_long = false;
    std::array<char, 65536> bytes{};
    for (;;) {
      const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      for (std::string_view rest(bytes.data(), static_cast<std::size_t>(got)); !rest.empty();) {
        const std::size_t end = rest.find('\n');
        if (!too_long) line += rest.substr(0, end);
        if (line.size() > kMostBytes) {
          too_long = true;
          line.clear();
        }
        if (end == std::string_view::npos) break;
        rest.remove_prefix(end + 1);
        reply(too_long ? mcp::Server::too_long() : answer(server, line));
        line.clear();
        too_long = false;
      }
    }
    if (!line.empty()) reply(answer(server, line));
    return exit_status(ExitCode::kOk);
  }

 private:
  /// Answers one message. An empty line is ignored.
  static std::string answer(mcp::Server& server, const std::string& line) {
    return line.find_first_not_of(" \t\r") == std::string::npos ? "" : server.answer(line);
  }
  static void reply(const std::string& text) {
    if (!text.empty()) write_output("-", text + "\n");
  }
};

}  // namespace

std::unique_ptr<Command> make_mcp_command() {
  return std::make_unique<Mcp>();
}

}  // namespace headway::cli
