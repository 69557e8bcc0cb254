// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"
#include "cli/tune/child.h"
#include "cli/tune/command_runs.h"
#include "cli/tune/render.h"
#include "cli/tune/trainer_runs.h"
#include "common/format.h"
#include "common/tell.h"
#include "common/text.h"

namespace headway::cli {
namespace {

/// CLI11 cannot say in its usage line that the rest of the line is a command.
class TuneFormatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: headway tune --vary ARGUMENT=VALUES [OPTIONS] -- COMMAND [ARGUMENT]...\n"
           "       headway tune [OPTIONS] -- headway-train [ARGUMENT]...\n";
  }
};

/// "5m", "90s", "1.5h", "300" (seconds).
double parse_time(std::string_view option, const std::string& text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double factor = unit == "m" ? 60 : unit == "h" ? 3600 : unit.empty() || unit == "s" ? 1 : 0;
  constexpr double kMost = 7 * 24 * 3600.0;
  if (code != std::errc() || factor == 0 || !(value >= 0 && value * factor <= kMost))
    fail_usage("{} {}: expected a time up to one week, such as 90s, 5m or 1h.", option,
               escape_terminal(text));
  return value * factor;
}

/// One line on a terminal, rewritten with each text; no output elsewhere.
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
    return "Find the fastest settings of a command by measured runs, guided by predictions";
  }
  std::vector<Example> examples() const override {
    return {{"headway tune --vary '--num-workers=0,2,4' --vary '--pin-memory' --runs 6 -- python3 "
             "train.py",
             ""},
            {"headway tune --budget 2m -- headway-train --preset host-sync", ""}};
  }

  void declare(CLI::App& app) override {
    auto formatter = std::make_shared<TuneFormatter>();
    formatter->column_width(app.get_formatter()->get_column_width());
    app.formatter(formatter);
    app.footer(
        "--vary: '--num-workers=0,2,4' or '--num-workers 0,2,4'   an argument: replaced where the "
        "command has it, else added\n"
        "        '--compile=,default,max-autotune'                an empty value first: the "
        "argument "
        "left out\n"
        "        '--pin-memory'   '--amp|--no-amp'                with and without it; one of "
        "both\n"
        "        'OMP_NUM_THREADS=1,2'                            an environment variable\n"
        "        'batch=32,64'                                    for {batch} or batch=… in the "
        "command\n"
        "        'more-workers:--loaders=0,2,4'                   the fix that is about it, where "
        "the "
        "name does not tell\n"
        "        '--layers=\"1,2\",\"3,4\"'                           quotes around a value with "
        "commas\n"
        "The search starts with the values that the command has, else with the first of each "
        "list.\n"
        "Of headway-train without --vary: its own switches, but none that changes what is "
        "computed.");
    app.add_option("--vary", vary_, "Settings to vary and their values; may be repeated. See below")
        ->type_name("ARGUMENT=VALUES")
        ->allow_extra_args(false);
    app.add_option("--runs", runs_,
                   "Maximum number of runs. Default: 20 with --vary, else unlimited")
        ->type_name("N")
        ->check(CLI::Range(2, 100000));
    app.add_option(
           "--budget", budget_,
           "Time for the whole search: 90s, 5m, 1h. Default: unlimited with --vary, else 5m")
        ->type_name("TIME");
    app.add_option("--steps", steps_,
                   "Training steps per run; with --vary, the command is ended (SIGTERM) after "
                   "them. Default: whole runs with --vary, else 60")
        ->type_name("N")
        ->check(CLI::Range(10, 1000000));
    app.add_option("--duration", duration_,
                   "With --vary: end each run (SIGTERM) after this time: 30s")
        ->type_name("TIME");
    app.add_option("--step-range", step_range_,
                   "With --vary: name of the step ranges, 'train*' for any ending")
        ->type_name("NAME");
    app.add_option("--repeat", repeat_,
                   "Runs per setting (--vary; default 1) or per side of a comparison (default 3; "
                   "one for simulated runs, which repeat exactly)")
        ->type_name("K")
        ->check(CLI::Range(1, 100));
    app.add_option("--only", options_.only, "Without --vary: change only these switches")
        ->type_name("SWITCH")
        ->delimiter(',');
    app.add_option("--allow", options_.allow,
                   "Without --vary: also change these arithmetic settings: precision")
        ->type_name("SWITCH")
        ->delimiter(',')
        ->allow_extra_args(false);
    app.add_option("--json", json_, "Write the result to FILE as JSON; '-': instead of the text")
        ->type_name("FILE");
    app.add_option("command", command_, "The command, with its arguments")->type_name("");
    // Arguments after the command belong to the command, with or without "--".
    app.positionals_at_end();
  }

  int run() override {
    check_json_path();
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
    options_.max_runs = runs_;
    if (!budget_.empty()) options_.budget_s = parse_time("--budget", budget_);
    if (repeat_ > 0) options_.repeat = repeat_;
    const tune::StopSignals signals;
    try {
      return vary_.empty() ? tune_trainer(self) : tune_command(self);
    } catch (const tune::Interrupted& interrupted) {
      return 128 + interrupted.signal;
    }
  }

 private:
  /// Checks the path before the runs, not after them.
  void check_json_path() const {
    if (json_.empty() || json_ == "-") return;
    const std::filesystem::path folder = std::filesystem::path(json_).parent_path();
    if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0)
      fail_usage("--json {}: cannot write: {}.", escape_terminal(json_), system_error_text(errno));
    if (std::filesystem::is_directory(json_))
      fail_usage("--json {}: is a folder; expected a file.", escape_terminal(json_));
  }

  int tune_trainer(const std::filesystem::path& self) {
    if (duration_.empty() && step_range_.empty()) {
      for (std::vector<std::string>* names : {&options_.only, &options_.allow})
        for (std::string& one : *names) std::ranges::replace(one, '-', '_');
    } else {
      fail_usage("--duration and --step-range need --vary.");
    }
    const std::vector<std::string> command = tune::checked_command(command_, self.parent_path());
    const tune::TrainerSwitches switches = tune::ask_switches(command);
    const int steps = steps_ > 0 ? steps_ : kTrainerSteps;
    tune::TrainerRuns runs({.command = command,
                            .headway = self,
                            .steps = steps,
                            .simulated = switches.simulated(),
                            .on_progress = shown_by(progress_)});
    const tune::Result result = search(switches, runs);
    return write(result, {.command = command_,
                          .simulated = switches.simulated(),
                          .exact = switches.exact(),
                          .steps = steps,
                          .repeat = options_.repeat,
                          .budget_s = options_.budget_s,
                          .max_runs = options_.max_runs});
  }

  int tune_command(const std::filesystem::path& self) {
    if (!options_.only.empty() || !options_.allow.empty())
      fail_usage(
          "--only and --allow apply to headway-train without --vary: --vary itself lists the "
          "settings.");
    if (command_.empty())
      fail_usage(
          "No command to tune. Expected: headway tune --vary '--num-workers=0,2,4' -- COMMAND "
          "[ARGUMENT]...");
    const tune::VariedCommand varied(
        command_, vary_, [](const char* name) -> const char* { return std::getenv(name); });
    options_.grid = true;
    if (budget_.empty()) options_.budget_s = 0;
    if (runs_ == 0) options_.max_runs = kDefaultRuns;
    if (repeat_ == 0) options_.repeat = 1;
    tune::CommandRuns runs(
        {.command = &varied,
         .headway = self,
         .step_range = step_range_,
         .steps = steps_,
         .duration_s = duration_.empty() ? 0 : parse_time("--duration", duration_),
         .on_progress = shown_by(progress_)});
    const tune::Result result = search(varied.switches(), runs);
    return write(result, {.command = command_,
                          .steps = steps_,
                          .repeat = options_.repeat,
                          .budget_s = options_.budget_s,
                          .max_runs = options_.max_runs,
                          .varied = &varied,
                          .per_sample = runs.is_per_sample()});
  }

  /// Returns a function that shows the current activity and the elapsed time.
  std::function<void(std::string_view)> shown_by(ProgressLine& line) const {
    const auto start = std::chrono::steady_clock::now();
    return [this, &line, start](std::string_view doing) {
      const std::chrono::nanoseconds used = std::chrono::steady_clock::now() - start;
      const std::string of =
          options_.budget_s > 0
              ? " of " + format_duration({static_cast<std::int64_t>(1e9 * options_.budget_s)})
              : "";
      line.show(fmt::format("{}{}, {}", format_duration({used.count()}), of, doing));
    };
  }

  tune::Result search(const tune::TrainerSwitches& switches, tune::Runs& runs) {
    tune::Result result = tune::search(switches, options_, runs);
    progress_.clear();
    return result;
  }

  int write(const tune::Result& result, const tune::RunFacts& facts) const {
    if (json_ != "-") write_output("-", render_text(result, facts));
    if (!json_.empty()) write_output(json_, render_json(result, facts));
    if (result.stopped == tune::Stopped::kSignal) return 128 + result.signal;
    return exit_status(result.stopped == tune::Stopped::kFailure ? ExitCode::kBadInput
                                                                 : ExitCode::kOk);
  }

  static constexpr int kTrainerSteps = 60;
  static constexpr int kDefaultRuns = 20;

  tune::Options options_;
  std::string budget_;  ///< empty: the default of the kind of search
  std::vector<std::string> vary_;
  int runs_ = 0;    ///< 0: the default of the kind of search
  int steps_ = 0;   ///< likewise
  int repeat_ = 0;  ///< likewise
  std::string duration_;
  std::string step_range_;
  std::string json_;
  ProgressLine progress_;
  std::vector<std::string> command_;
};

}  // namespace

std::unique_ptr<Command> make_tune_command() {
  return std::make_unique<Tune>();
}

}  // namespace headway::cli
