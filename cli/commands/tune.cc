// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <charconv>
#include <cstdio>

#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"
#include "common/format.h"
#include "common/tell.h"
#include "common/text.h"
#include "tune/child.h"
#include "tune/render.h"
#include "tune/trainer_runs.h"

namespace headway::cli {
namespace {

/// CLI11 knows no way to say that the rest of the line is a command.
class TuneFormatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: headway tune [OPTIONS] -- headway-train [ARGUMENT]...\n";
  }
};

/// "5m", "90s", "1.5h", "300" (seconds).
double parse_budget(const std::string& text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double factor = unit == "m" ? 60 : unit == "h" ? 3600 : unit.empty() || unit == "s" ? 1 : 0;
  constexpr double kMost = 7 * 24 * 3600.0;
  if (code != std::errc() || factor == 0 || !(value >= 0 && value * factor <= kMost))
    fail_usage("--budget {}: expected a time of at most a week, such as 90s, 5m or 1h.",
               escape_terminal(text));
  return value * factor;
}

/// One line on a terminal, rewritten; nothing elsewhere.
class ProgressLine {
 public:
  ~ProgressLine() { clear(); }
  void show(std::string_view doing) {
    if (!::isatty(STDERR_FILENO)) return;
    tell(fmt::format("\r\033[Ktune: {}", shorten(escape_terminal(doing), terminal_width() - 8)));
    shown_ = true;
  }
  void clear() {
    if (std::exchange(shown_, false)) tell("\r\033[K");
  }

 private:
  bool shown_ = false;
};

class Tune final : public Command {
 public:
  std::string_view name() const override { return "tune"; }
  std::string_view summary() const override {
    return "Search the switches of headway-train for the fastest step, by runs that predictions "
           "choose";
  }

  void declare(CLI::App& app) override {
    auto formatter = std::make_shared<TuneFormatter>();
    formatter->column_width(app.get_formatter()->get_column_width());
    app.formatter(formatter);
    app.footer(
        "Example: headway tune --budget 2m -- headway-train --preset host-sync\n"
        "Switches that change what is computed are left alone; a loss can differ in rounding.");
    app.add_option("--budget", budget_, "Time for the whole search: 90s, 5m, 1h")
        ->type_name("TIME")
        ->capture_default_str();
    app.add_option("--steps", steps_, "Training steps of each run")
        ->type_name("N")
        ->check(CLI::Range(10, 1000000))
        ->capture_default_str();
    app.add_option("--repeat", options_.repeat,
                   "Runs of each side of a comparison; simulated runs repeat exactly and need one")
        ->type_name("K")
        ->check(CLI::Range(1, 100))
        ->capture_default_str();
    app.add_option("--only", options_.only, "Change only these switches")
        ->type_name("SWITCH")
        ->delimiter(',');
    app.add_option("--allow", options_.allow,
                   "Change these, too, though they change the arithmetic: precision")
        ->type_name("SWITCH")
        ->delimiter(',')
        ->allow_extra_args(false);
    app.add_option("--json", json_, "Write the result to FILE as JSON; '-': instead of the text")
        ->type_name("FILE");
    app.add_option("command", command_, "headway-train, with its arguments")->type_name("");
    // What follows the command is the command's, with or without "--".
    app.positionals_at_end();
  }

  int run() override {
    options_.budget_s = parse_budget(budget_);
    check_json_path();
    for (std::vector<std::string>* names : {&options_.only, &options_.allow})
      for (std::string& one : *names) std::ranges::replace(one, '-', '_');
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
    const std::vector<std::string> command = tune::checked_command(command_, self.parent_path());
    const tune::StopSignals signals;
    try {
      const tune::TrainerSwitches switches = tune::ask_switches(command);
      const tune::Result result = search(switches, command, self);
      write(result, switches);
      if (result.stopped == tune::Stopped::kSignal) return 128 + result.signal;
      return exit_status(result.stopped == tune::Stopped::kFailure ? ExitCode::kBadInput
                                                                   : ExitCode::kOk);
    } catch (const tune::Interrupted& interrupted) {
      return 128 + interrupted.signal;
    }
  }

 private:
  /// Now, and not when all runs have been made.
  void check_json_path() const {
    if (json_.empty() || json_ == "-") return;
    const std::filesystem::path folder = std::filesystem::path(json_).parent_path();
    if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0)
      fail_usage("--json {}: cannot be written: {}.", escape_terminal(json_),
                 system_error_text(errno));
    if (std::filesystem::is_directory(json_))
      fail_usage("--json {}: this is a folder; expected a file.", escape_terminal(json_));
  }

  tune::Result search(const tune::TrainerSwitches& switches,
                      const std::vector<std::string>& command,
                      const std::filesystem::path& self) const {
    ProgressLine progress;
    tune::TrainerRuns* running = nullptr;
    auto show = [&](std::string_view doing) {
      const auto used = static_cast<std::int64_t>(running->elapsed_s() * 1e9);
      progress.show(fmt::format("{} of {}, {}", format_duration({used}), budget_, doing));
    };
    tune::TrainerRuns runs({.command = command,
                            .headway = self,
                            .steps = steps_,
                            .simulated = switches.simulated(),
                            .on_progress = show});
    running = &runs;
    return tune::search(switches, options_, runs);
  }

  void write(const tune::Result& result, const tune::TrainerSwitches& switches) const {
    const tune::RunFacts facts{.command = command_,
                               .simulated = switches.simulated(),
                               .exact = switches.exact(),
                               .steps = steps_,
                               .repeat = options_.repeat,
                               .budget_s = options_.budget_s};
    if (json_ != "-") write_output("-", render_text(result, facts));
    if (!json_.empty()) write_output(json_, render_json(result, facts));
  }

  tune::Options options_;
  std::string budget_ = "5m";
  int steps_ = 60;
  std::string json_;
  std::vector<std::string> command_;
};

}  // namespace

std::unique_ptr<Command> make_tune_command() {
  return std::make_unique<Tune>();
}

}  // namespace headway::cli
