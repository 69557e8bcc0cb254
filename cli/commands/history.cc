// SPDX-License-Identifier: MIT
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ctime>
#include <nlohmann/json.hpp>

#include "analyzer/stats/table.h"
#include "analyzer/whatif/predict_findings.h"
#include "cli/commands/calibration_option.h"
#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"
#include "cli/commands/pager.h"
#include "cli/commands/past_runs.h"
#include "common/error.h"

namespace headway::cli {
namespace {

std::string local_time(std::int64_t utc_ns) {
  if (utc_ns <= 0) return "";
  return fmt::format("{:%Y-%m-%d %H:%M}",
                     fmt::localtime(static_cast<std::time_t>(utc_ns / 1'000'000'000)));
}

analyzer::Table table_of(const std::vector<PastRun>& runs, std::size_t last) {
  using analyzer::ColumnKind;
  analyzer::Table table{
      .id = "history",
      .title = "Runs, oldest first",
      .note = fmt::format(
          "change: against the median step cost of up to {} earlier runs of the same name", last),
      .columns = {{"start", "Start", ColumnKind::kText},
                  {"name", "Name", ColumnKind::kText},
                  {"step_ns", "Step cost", ColumnKind::kDuration},
                  {"change", "Change", ColumnKind::kPercent},
                  {"judgement", "", ColumnKind::kText},
                  {"cause", "First cause", ColumnKind::kText},
                  {"commit", "Commit", ColumnKind::kText},
                  {"steps", "Steps", ColumnKind::kCount},
                  {"file", "File", ColumnKind::kText},
                  {"command", "Command", ColumnKind::kText}},
      .rows = {}};
  for (const PastRun& run : runs) {
    analyzer::Cell step, change;
    if (run.step.ns > 0) step = run.step.ns;
    if (run.change) change = *run.change;
    // The name is the command if there is no --name, so the command is not shown twice.
    table.rows.push_back({local_time(run.start_utc_ns), run.name, step, change, run.judgement,
                          run.cause, run.commit.substr(0, 10), run.steps,
                          run.file.filename().string(),
                          run.name == run.command ? "" : run.command});
  }
  return table;
}

class HistoryCommand final : public Command {
 public:
  std::string_view name() const override { return "history"; }
  std::string_view summary() const override {
    return "List the runs of a folder: step cost, main cause, commit, regressions";
  }
  std::vector<Example> examples() const override {
    return {{"headway history", "all runs of this folder"},
            {"headway history runs/ --name 'base*' --last 10", ""},
            {"headway history --fail", "exit code 1 if the newest run is slower"}};
  }

  void declare(CLI::App& app) override {
    app.add_option("folder", folder_, "Folder with traces")
        ->type_name("FOLDER")
        ->capture_default_str();
    app.add_option("--name", name_,
                   "Only runs of this name (headway run --name); * and ? stand for anything")
        ->type_name("NAME");
    app.add_option("--last", last_, "Compare each run with the median of this many earlier runs")
        ->type_name("N")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_option("--format", format_, "text, csv, markdown or json")
        ->type_name("FORMAT")
        ->check(CLI::IsMember({"text", "csv", "markdown", "json"}));
    app.add_flag("--json", json_, "Same as --format json");
    app.add_flag("--fail", fail_, "Exit with 1 if the newest run is slower than earlier ones");
    calibration_.declare(app);
    input_.declare_options(app);
    declare_pager(app);
  }

  int run() override {
    std::vector<PastRun> runs = past_runs(folder_, name_, input_, [&](Analyzed& analyzed) {
      analyzer::predict_findings(analyzed.trace, analyzed.analysis,
                                 calibration_.load(analyzed.trace));
    });
    if (runs.empty())
      fail_usage("{}: no trace{} here. `headway run -- COMMAND` makes one.", folder_,
                 name_.empty() ? "" : " of that name");
    judge_past_runs(runs, last_);
    print(table_of(runs, last_));
    const bool slower = runs.back().judgement == "slower";
    return exit_status(fail_ && slower ? ExitCode::kOverBudget : ExitCode::kOk);
  }

 private:
  void print(const analyzer::Table& table) const {
    std::string text;
    if (json_ || format_ == "json") {
      text = analyzer::to_json(table).dump(2) + "\n";
    } else if (format_ == "csv") {
      text = analyzer::to_csv(table);
    } else if (format_ == "markdown") {
      text = analyzer::to_markdown(table);
    } else {
      analyzer::TextOptions options;
      options.width = terminal_width();
      text = fmt::format("{} ({})\n\n{}", table.title, table.note, to_text(table, options));
    }
    show("-", text);
  }

  std::string folder_ = ".";
  std::string name_;
  std::size_t last_ = kPastRuns;
  std::string format_ = "text";
  bool json_ = false;
  bool fail_ = false;
  CalibrationOption calibration_;
  AnalysisInput input_;
};

}  // namespace

std::unique_ptr<Command> make_history_command() {
  return std::make_unique<HistoryCommand>();
}

}  // namespace headway::cli
