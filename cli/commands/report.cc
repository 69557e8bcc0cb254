// SPDX-License-Identifier: MIT
#include "analyzer/report/report.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"
#include "cli/version.h"
#include "common/tell.h"

namespace headway::cli {
namespace {

class ReportCommand final : public Command {
 public:
  std::string_view name() const override { return "report"; }
  std::string_view summary() const override {
    return "Say where each step's time went, what holds it back, and what to do";
  }

  void declare(CLI::App& app) override {
    app.add_option("trace", traces_,
                   "Trace file, or those of all ranks of a job: several files, a folder, or a "
                   "quoted pattern")
        ->required()
        ->type_name("TRACE");
    app.add_option("-o,--output", outputs_,
                   "Write to FILE instead of the terminal; may be repeated. The format follows "
                   "from .txt, .md, .json, .html")
        ->type_name("FILE")
        ->allow_extra_args(false);
    app.add_option("--format", format_,
                   "Format of the terminal output: text, markdown, json or html")
        ->type_name("FORMAT")
        ->check(CLI::IsMember(analyzer::report_format_names()));
    app.add_flag("--json", json_, "Same as --format json");
    app.add_option("--rows", options_.max_rows, "Rows shown of each table (JSON has all)")
        ->type_name("N")
        ->capture_default_str();
    input_.declare_options(app);
  }

  int run() override {
    if (json_) format_ = "json";
    for (const std::string& output : outputs_)
      format_of(output);  // wrong names are refused before the work
    int exit_code = 0;
    auto analyzed = input_.load_job(traces_, exit_code);
    if (!analyzed) return exit_code;
    options_.tool_version = kVersion;
    auto text = [&](analyzer::ReportFormat format) {
      return analyzer::render(format, analyzed->trace, analyzed->analysis, options_);
    };
    for (const std::string& output : outputs_) {
      write_output(output, text(format_of(output)));
      if (output != "-") tell(fmt::format("wrote {}\n", output));
    }
    if (outputs_.empty()) write_output("-", text(*analyzer::report_format(format_)));
    return exit_status(ExitCode::kOk);
  }

 private:
  analyzer::ReportFormat format_of(const std::string& output) const {
    std::string extension = std::filesystem::path(output).extension().string();
    if (extension == ".html" || extension == ".htm") return analyzer::ReportFormat::kHtml;
    if (extension == ".md") return analyzer::ReportFormat::kMarkdown;
    if (extension == ".json") return analyzer::ReportFormat::kJson;
    if (extension == ".txt" || output == "-") return *analyzer::report_format(format_);
    fail_usage("-o {}: cannot tell the format from the name; use .txt, .md, .json or .html.",
               output);
  }

  std::vector<std::string> traces_;
  std::vector<std::string> outputs_;
  std::string format_ = "text";
  bool json_ = false;
  analyzer::ReportOptions options_;
  AnalysisInput input_;
};

}  // namespace

std::unique_ptr<Command> make_report_command() {
  return std::make_unique<ReportCommand>();
}

}  // namespace headway::cli
