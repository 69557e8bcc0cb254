// SPDX-License-Identifier: MIT
#include "analyzer/report/report.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <set>

#include "analyzer/ranks/job.h"
#include "analyzer/whatif/predict_findings.h"
#include "cli/commands/calibration_option.h"
#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"
#include "cli/commands/pager.h"
#include "cli/commands/progress.h"
#include "cli/commands/screen_style.h"
#include "cli/commands/version.h"
#include "common/tell.h"
#include "common/text.h"

namespace headway::cli {
namespace {

class ReportCommand final : public Command {
 public:
  std::string_view name() const override { return "report"; }
  std::string_view summary() const override {
    return "Show where each step's time went, what limits it, and what to change";
  }
  std::vector<Example> examples() const override {
    return {{"headway report run.sqlite", "the verdict on one screen"},
            {"headway report run.sqlite --full", "every finding and table"},
            {"headway report 'ranks/*.sqlite' -o job.html", "a job of many ranks, as a page"},
            {"headway report run.sqlite --json | jq .verdict", ""}};
  }

  void declare(CLI::App& app) override {
    app.add_option(
           "trace", traces_,
           "Trace file, or all ranks of a job: several files, a folder, or a quoted pattern")
        ->required()
        ->type_name("TRACE");
    app.add_option("-o,--output", outputs_,
                   "Write to FILE instead of the terminal; may be repeated. Formats by name: .txt, "
                   ".md, .json, .html, .xml (JUnit), .sarif, .csv. A folder, or a name ending in "
                   "/, gets every table as CSV")
        ->type_name("FILE")
        ->allow_extra_args(false);
    app.add_option("--format", format_,
                   fmt::format("Format of the terminal output: {}",
                               fmt::join(analyzer::report_format_names(), ", ")))
        ->type_name("FORMAT")
        ->check(CLI::IsMember(analyzer::report_format_names()));
    app.add_flag("--json", json_, "Same as --format json");
    app.add_flag("--full", full_,
                 "Print the whole report with its tables; default on a terminal: one screen");
    app.add_option("--predict", predict_,
                   "Judge findings by replaying the steps without them: yes, no (the rules' own "
                   "figures), or auto (yes)")
        ->type_name("WHEN")
        ->check(CLI::IsMember({"auto", "yes", "no"}))
        ->capture_default_str();
    calibration_.declare(app);
    app.add_option("--rows", options_.max_rows, "Rows shown of each table (JSON has all)")
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--width", width_,
                   "Text width in columns; 0: the terminal's width, or 110 without a terminal")
        ->type_name("N")
        ->capture_default_str()
        ->check(CLI::Range(0, 1000));
    input_.declare_options(app);
    input_.declare_unrecorded_step(app);
    declare_pager(app);
  }

  int run() override {
    if (json_) format_ = "json";
    options_.text_width = width_ ? std::max<std::size_t>(40, width_) : terminal_width();
    for (const std::string& output : outputs_)
      if (!is_folder(output)) format_of(output);  // rejects unknown suffixes before the analysis
    auto analyzed = input_.load_job(traces_);
    if (!analyzed) return exit_status(ExitCode::kOk);
    options_.tool_version = kVersion;
    add_notes(analyzed->analysis);
    if (predict_ != "no") {
      Progress progress("replaying steps without each finding");
      analyzer::predict_findings(analyzed->trace, analyzed->analysis,
                                 calibration_.load(analyzed->trace),
                                 analyzed->whole ? &*analyzed->whole : nullptr);
    }
    auto text = [&](analyzer::ReportFormat format) {
      return analyzer::render(format, analyzed->trace, analyzed->analysis, options_);
    };
    for (const std::string& output : outputs_) {
      if (is_folder(output))
        write_tables(output, *analyzed);
      else
        write_output(output, text(format_of(output)));
      if (output != "-") tell(fmt::format("wrote {}\n", escape_terminal(output)));
    }
    if (outputs_.empty()) print(*analyzed, text);
    return exit_status(ExitCode::kOk);
  }

 private:
  /// Adds notes; for a job those beside each rank's trace.
  void add_notes(const analyzer::Analysis& analysis) {
    const auto add = [&](const std::string& file, std::int32_t rank) {
      const trace::Bookmarks beside = trace::notes_beside(file);
      for (const trace::Bookmark& note : beside.all()) options_.notes.push_back({note, rank});
    };
    if (!analysis.job) {
      if (traces_.size() == 1) add(traces_.front(), -1);
      return;
    }
    std::set<std::string> seen;
    for (const analyzer::RankSummary& rank : analysis.job->ranks)
      if (seen.insert(rank.file).second) add(rank.file, rank.identity.rank);
  }

  /// Prints the verdict on one screen, unless the whole report or another format is requested.
  template <class Text>
  void print(const Analyzed& analyzed, Text text) const {
    const analyzer::ReportFormat format = *analyzer::report_format(format_);
    if (full_ || format != analyzer::ReportFormat::kText) return show("-", text(format));
    analyzer::ScreenOptions style = screen_style();
    style.width = options_.text_width;
    show("-", analyzer::render_screen(analyzed.trace, analyzed.analysis, style) +
                  "\nMore      --full: the whole report; -o report.html: a page to share\n");
  }

  static bool is_folder(const std::string& output) {
    return output.ends_with('/') || std::filesystem::is_directory(output);
  }

  static void write_tables(const std::string& folder, const Analyzed& analyzed) {
    make_folder(folder);
    for (const auto& [name, text] : analyzer::report_tables(analyzed.trace, analyzed.analysis))
      write_output((std::filesystem::path(folder) / name).string(), text);
  }

  analyzer::ReportFormat format_of(const std::string& output) const {
    if (output == "-") return *analyzer::report_format(format_);
    if (auto format = analyzer::report_format_of_file(output)) return *format;
    fail_usage(
        "-o {0}: unknown format; use .txt, .md, .json, .html, .xml, .sarif or .csv, or a folder "
        "('{0}/') for every table as CSV.",
        output);
  }

  std::vector<std::string> traces_;
  std::vector<std::string> outputs_;
  std::string format_ = "text";
  std::string predict_ = "auto";
  bool json_ = false;
  bool full_ = false;
  std::size_t width_ = 0;
  analyzer::ReportOptions options_;
  CalibrationOption calibration_;
  AnalysisInput input_;
};

}  // namespace

std::unique_ptr<Command> make_report_command() {
  return std::make_unique<ReportCommand>();
}

}  // namespace headway::cli
