// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <optional>

#include "analyzer/job/analyze_job.h"
#include "analyzer/report/report.h"
#include "analyzer/whatif/predict_findings.h"
#include "cli/commands/calibration_option.h"
#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"
#include "cli/commands/past_runs.h"
#include "cli/commands/record_arguments.h"
#include "cli/commands/screen_style.h"
#include "cli/commands/version.h"
#include "cli/live/panel_process.h"
#include "collector/record/environment/launched_rank.h"
#include "common/error.h"
#include "common/format.h"
#include "common/shell_word.h"
#include "common/tell.h"
#include "common/text.h"
#include "trace/load/load.h"
#include "trace/meta_keys.h"

namespace headway::cli {
namespace {

/// Records a command, then prints the verdict on one screen, also when the command failed or was
/// stopped: everything up to then is recorded.
class Run final : public Command {
 public:
  std::string_view name() const override { return "run"; }
  std::string_view summary() const override {
    return "Run a command, record it, and show what limits its steps";
  }
  std::vector<Example> examples() const override {
    return {
        {"headway run -- python3 train.py", "record it, then the verdict on one screen"},
        {"headway run --live -- torchrun --nproc-per-node 8 train.py",
         "a live panel; all ranks in one file"},
        {"headway run --name baseline -o base.sqlite -- ./train", "a name for `headway history`"}};
  }

  void declare(CLI::App& app) override {
    arguments_.declare(app, "run");
    app.add_flag("!--no-html", html_, "Write no HTML report beside the trace");
    app.add_flag("--live{0}", live_,
                 "Show a live panel at the bottom of the terminal, or a line every 10 s without a "
                 "terminal; with a number: refresh interval in seconds")
        ->type_name("[=SECONDS]")
        ->default_str("");
    calibration_.declare(app);
  }

  int run() override {
    record::RecordOptions options = arguments_.options();
    options.suggest_report = false;
    std::optional<live::PanelProcess> panel;
    if (!live_.empty()) {
      options.live = true;
      analyzer::StepOptions steps;
      steps.range = options.scope.step_range;
      panel.emplace(refresh_seconds(), steps);
      options.on_begun = [&](const std::filesystem::path& file) { panel->follow(file); };
      options.on_over = [&] { panel->close(); };
    }
    const record::RecordResult recorded = record::record(options);
    stop_on_signals();
    if (panel && panel->cpu_time().ns > 0 && !options.quiet)
      tell(fmt::format("headway: the panel used {} of processor time\n",
                       format_duration(panel->cpu_time())));
    try {
      judge(recorded.file);
    } catch (const Error& error) {  // the exit status of the command takes precedence
      tell(fmt::format("headway: no verdict: {}\n", escape_terminal(error.what())));
    }
    return recorded.exit_status;
  }

 private:
  double refresh_seconds() const {
    double seconds = 0;
    const auto [end, error] = std::from_chars(live_.data(), live_.data() + live_.size(), seconds);
    constexpr double kDay = 86'400;
    if (error != std::errc{} || end != live_.data() + live_.size() || seconds < 0 ||
        (seconds > 0 && seconds < 0.1) || seconds > kDay)
      fail_usage("--live={}: expected seconds from 0.1 to 86400.", escape_terminal(live_));
    return seconds;
  }

  /// The recorder blocks signals to pass them on; after the command has ended, Ctrl-C ends this
  /// process.
  static void stop_on_signals() {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_UNBLOCK, &all, nullptr);
  }

  /// Under mpirun each process records its own rank, and the first one prints the verdict for all.
  /// The program has initialised and finalised MPI, which cannot be done again, so nothing is
  /// exchanged here.
  void judge(const std::filesystem::path& file) {
    const record::Launched job = record::launched_self();
    const bool one_of_many = job.world_size.value_or(1) > 1 && job.launcher != "environment";
    if (one_of_many && job.rank != 0) return;
    auto analyzed = analyzer::analyze_ranks(trace::load(file));
    analyzer::predict_findings(analyzed->trace, analyzed->analysis,
                               calibration_.load(analyzed->trace),
                               analyzed->whole ? &*analyzed->whole : nullptr);
    write_output(
        "-", "\n" + analyzer::render_screen(analyzed->trace, analyzed->analysis, screen_style()));
    std::string page;
    if (html_) {
      page = std::filesystem::path(file).replace_extension(".html").string();
      analyzer::ReportOptions options;
      options.tool_version = kVersion;
      write_output(page, analyzer::render(analyzer::ReportFormat::kHtml, analyzed->trace,
                                          analyzed->analysis, options));
    }
    if (!analyzed->trace.meta_value(trace::meta::kName).empty())
      write_output("-", compared(file, *analyzed));
    write_output("-",
                 fmt::format("\nFiles     {}{}{}\nMore      headway report --full {}\n",
                             escape_terminal(file.string()), page.empty() ? "" : "  ",
                             escape_terminal(page), shell_word(escape_terminal(file.string()))));
    if (one_of_many)
      write_output("-", fmt::format("Ranks     this is one of {}: give all ranks' files to "
                                    "`headway report` to compare them\n",
                                    *job.world_size));
  }

  /// Compares the run with those of the same name in its folder; empty when there are none.
  std::string compared(const std::filesystem::path& file, const Analyzed& analyzed) const {
    const PastRun self = past_run(file, analyzed);
    if (self.step.ns <= 0) return "";
    std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
    std::vector<PastRun> runs = past_runs(folder, self.name, AnalysisInput(), [](Analyzed&) {});
    judge_past_runs(runs, kPastRuns);
    for (const PastRun& run : runs) {
      if (run.file.filename() != file.filename() || !run.change) continue;
      return fmt::format("\nHistory   {}: {} % against {} earlier run{} of '{}'\n",
                         run.judgement.empty() ? "no clear change" : run.judgement,
                         format_signed(100 * *run.change), run.before, run.before == 1 ? "" : "s",
                         escape_terminal(self.name));
    }
    return "";
  }

  RecordArguments arguments_;
  CalibrationOption calibration_;
  bool html_ = true;
  std::string live_;  ///< seconds between two refreshes, "0": the default; empty: no panel
};

}  // namespace

std::unique_ptr<Command> make_run_command() {
  return std::make_unique<Run>();
}

}  // namespace headway::cli
