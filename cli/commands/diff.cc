// SPDX-License-Identifier: MIT
#include "analyzer/diff/diff.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"
#include "cli/commands/pager.h"

namespace headway::cli {
namespace {

class DiffCommand final : public Command {
 public:
  std::string_view name() const override { return "diff"; }
  std::string_view summary() const override {
    return "Compare two runs: is B faster than A, by how much, and where";
  }
  std::vector<Example> examples() const override {
    return {{"headway diff before.sqlite after.sqlite", ""},
            {"headway diff before.sqlite after.sqlite -o diff.html", "as an HTML page"},
            {"headway diff base.sqlite new.sqlite --fail-above 3",
             "exit code 1 when more than 3 % slower"}};
  }

  void declare(CLI::App& app) override {
    app.add_option("a", first_, "Trace file of the baseline run")->type_name("A");
    app.add_option("b", second_, "Trace file of the new run")->type_name("B");
    app.add_option("--a", more_a_,
                   "Another run of side A; may be repeated. Several runs per side measure the "
                   "variance between runs")
        ->type_name("FILE")
        ->allow_extra_args(false);
    app.add_option("--b", more_b_, "Another run of side B; may be repeated")
        ->type_name("FILE")
        ->allow_extra_args(false);
    app.add_option("--format", format_, "text, markdown, json or html")
        ->type_name("FORMAT")
        ->check(CLI::IsMember({"text", "markdown", "json", "html"}));
    app.add_flag("--json", json_, "Same as --format json");
    app.add_option("-o,--output", output_, "Write to FILE instead of the terminal")
        ->type_name("FILE");
    app.add_option("--rows", rows_, "Rows shown of each table; 0 shows all (JSON always has all)")
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--noise", noise_pct_, "Smallest change of the step that counts")
        ->type_name("PERCENT")
        ->capture_default_str()
        ->check(CLI::Range(0.0, 100.0));
    app.add_option("--fail-above", fail_above_pct_,
                   "Exit with 1 if B is slower than A by more than this")
        ->type_name("PERCENT")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--fail-on", fail_on_, "Exit with 1 on this verdict; may be repeated")
        ->type_name("VERDICT")
        ->allow_extra_args(false)
        ->check(CLI::IsMember({"slower", "faster", "same", "inconclusive"}));
    input_.declare_options(app);
    declare_pager(app);
  }

  int run() override {
    if (!first_.empty()) more_a_.insert(more_a_.begin(), first_);
    if (!second_.empty()) more_b_.insert(more_b_.begin(), second_);
    if (more_a_.empty() || more_b_.empty()) {
      fail_usage("diff: side {} is required. See `headway diff --help`.",
                 more_a_.empty() ? "a" : "b");
    }
    std::vector<std::unique_ptr<Analyzed>> loaded;
    std::vector<analyzer::DiffRun> a = load(more_a_, loaded);
    std::vector<analyzer::DiffRun> b = load(more_b_, loaded);
    analyzer::Diff result = analyzer::diff(a, b, noise_pct_ / 100);
    show(output_, analyzer::render(format(), result, a, b, rows_ == 0 ? SIZE_MAX : rows_));
    bool regressed = fail_above_pct_ >= 0 && result.verdict == analyzer::DiffVerdict::kSlower &&
                     result.step.change * 100 > fail_above_pct_;
    bool unwanted = std::find(fail_on_.begin(), fail_on_.end(),
                              analyzer::diff_verdict_id(result.verdict)) != fail_on_.end();
    return exit_status(regressed || unwanted ? ExitCode::kOverBudget : ExitCode::kOk);
  }

 private:
  std::vector<analyzer::DiffRun> load(const std::vector<std::string>& paths,
                                      std::vector<std::unique_ptr<Analyzed>>& loaded) const {
    std::vector<analyzer::DiffRun> runs;
    for (const std::string& path : paths) {
      loaded.push_back(input_.load(path));
      runs.push_back({loaded.back()->trace, loaded.back()->analysis});
    }
    return runs;
  }

  analyzer::DiffFormat format() const {
    using analyzer::DiffFormat;
    if (json_ || format_ == "json" || (format_.empty() && output_.ends_with(".json")))
      return DiffFormat::kJson;
    if (format_ == "markdown" || (format_.empty() && output_.ends_with(".md")))
      return DiffFormat::kMarkdown;
    if (format_ == "html" || (format_.empty() && output_.ends_with(".html")))
      return DiffFormat::kHtml;
    return DiffFormat::kText;
  }

  std::string first_;
  std::string second_;
  std::vector<std::string> more_a_;
  std::vector<std::string> more_b_;
  std::string format_;
  std::string output_ = "-";
  std::vector<std::string> fail_on_;
  bool json_ = false;
  std::size_t rows_ = 12;
  double noise_pct_ = 1;
  double fail_above_pct_ = -1;
  AnalysisInput input_;
};

}  // namespace

std::unique_ptr<Command> make_diff_command() {
  return std::make_unique<DiffCommand>();
}

}  // namespace headway::cli
