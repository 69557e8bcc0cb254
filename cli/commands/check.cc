// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "analyzer/check/budget.h"
#include "analyzer/check/check_report.h"
#include "analyzer/stats/table.h"
#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"
#include "cli/commands/version.h"
#include "common/tell.h"
#include "common/text.h"

namespace headway::cli {
namespace {

class CheckCommand final : public Command {
 public:
  std::string_view name() const override { return "check"; }
  std::string_view summary() const override {
    return "Compare a trace with a budget; exit code 1 if over budget (for CI)";
  }
  std::vector<Example> examples() const override {
    return {{"headway check run.sqlite --init", "write headway.toml from a good run"},
            {"headway check run.sqlite", "exit code 1 when over budget"},
            {"headway check run.sqlite --baseline base.sqlite --junit check.xml", ""}};
  }

  void declare(CLI::App& app) override {
    app.add_option("trace", trace_, "Trace file")->required()->type_name("TRACE");
    app.add_option("--budget", budget_, "TOML file with the limits (docs/user-guide/check.md)")
        ->type_name("FILE")
        ->capture_default_str();
    app.add_option("--baseline", baseline_, "Trace of the baseline run for vs_baseline limits")
        ->type_name("TRACE");
    app.add_flag("--init", init_,
                 "Write a first budget from this trace to the --budget file ('-': the terminal)");
    app.add_flag("--list", list_, "List this trace's metrics and values; check nothing");
    app.add_flag("--json", json_, "Print the result as JSON");
    app.add_option("--junit", junit_, "Also write JUnit XML to this file")->type_name("FILE");
    app.add_option("--sarif", sarif_, "Also write SARIF 2.1.0 to this file")->type_name("FILE");
    app.add_option("--markdown", markdown_,
                   "Also write Markdown to this file, e.g. for a pull request")
        ->type_name("FILE");
    app.add_flag("--allow-unknown", allow_unknown_,
                 "Do not fail on metrics missing from the trace");
    input_.declare_options(app);
  }

  int run() override {
    if (init_) return write_starter();
    if (list_) {
      auto analyzed = input_.load(trace_);
      write_output("-", list(analyzer::metrics(analyzed->trace, analyzed->analysis)));
      return exit_status(ExitCode::kOk);
    }
    // Reads the budget first, so that an error in it is reported before the traces are read.
    analyzer::Budget budget = analyzer::read_budget(budget_);
    if (baseline_.empty()) baseline_ = budget.baseline;
    if (budget.needs_baseline() && baseline_.empty())
      fail_usage("{}: vs_baseline limits need a baseline run: --baseline base.sqlite.", budget_);
    if (!budget.needs_baseline() && !baseline_.empty())
      tell(fmt::format("headway: {} has no vs_baseline limit, so {} is not read.\n",
                       escape_terminal(budget_), escape_terminal(baseline_)));
    budget.allow_unknown = budget.allow_unknown || allow_unknown_;
    input_.fill_in(budget.analysis);
    auto run = input_.load(trace_);
    std::unique_ptr<Analyzed> base;
    if (budget.needs_baseline()) base = input_.load(baseline_);
    return judge(budget, *run, base.get());
  }

 private:
  int judge(const analyzer::Budget& budget, const Analyzed& run, const Analyzed* base) {
    std::optional<analyzer::DiffRun> baseline;
    if (base) baseline.emplace(analyzer::DiffRun{base->trace, base->analysis});
    analyzer::CheckInput input{{run.trace, run.analysis}, baseline ? &*baseline : nullptr};
    std::vector<analyzer::LimitResult> results = analyzer::check_budget(budget, input);
    bool over = analyzer::over_budget(results, budget.allow_unknown);
    analyzer::CheckReport report{budget, results, input, over, std::string(kVersion)};
    if (!junit_.empty()) write_output(junit_, analyzer::check_junit(report));
    if (!sarif_.empty()) write_output(sarif_, analyzer::check_sarif(report));
    if (!markdown_.empty()) write_output(markdown_, analyzer::check_markdown(report));
    write_output(
        "-", json_ ? analyzer::check_json(report) : analyzer::check_text(report, terminal_width()));
    return exit_status(over ? ExitCode::kOverBudget : ExitCode::kOk);
  }

  int write_starter() {
    if (budget_ != "-" && std::filesystem::exists(budget_))
      fail_usage("{}: already exists; choose another file with --budget, or '-' for the terminal.",
                 budget_);
    auto analyzed = input_.load(trace_);
    write_output(budget_, analyzer::starter_budget(analyzed->trace, analyzed->analysis));
    if (budget_ != "-")
      tell(fmt::format("wrote {}; now: headway check {} --budget {}\n", escape_terminal(budget_),
                       escape_terminal(trace_), escape_terminal(budget_)));
    return exit_status(ExitCode::kOk);
  }

  static std::string list(const std::vector<analyzer::Metric>& metrics) {
    analyzer::Table table{"metrics", "Metrics", "", {}, {}};
    table.columns = {{"metric", "Metric", analyzer::ColumnKind::kText},
                     {"value", "Value", analyzer::ColumnKind::kNumber},
                     {"unit", "Unit", analyzer::ColumnKind::kText},
                     {"doc", "Meaning", analyzer::ColumnKind::kText}};
    for (const analyzer::Metric& metric : metrics) {
      table.rows.push_back({metric.name,
                            metric.value ? analyzer::Cell(*metric.value)
                                         : analyzer::Cell(std::string("cannot tell")),
                            metric.unit, metric.doc});
    }
    for (const analyzer::NamedMetric& metric : analyzer::named_metrics()) {
      table.rows.push_back({fmt::format("{}.\"NAME\".{}", metric.kind, metric.field),
                            std::string("by name"), std::string(metric.unit),
                            std::string(metric.doc)});
    }
    for (const analyzer::Metric& metric : analyzer::baseline_metrics())
      table.rows.push_back({metric.name, std::string("--baseline"), metric.unit, metric.doc});
    return analyzer::to_text(table, {.width = 140, .indent = ""});
  }

  std::string trace_;
  std::string budget_ = "headway.toml";
  std::string baseline_;
  std::string junit_;
  std::string sarif_;
  std::string markdown_;
  bool init_ = false;
  bool list_ = false;
  bool json_ = false;
  bool allow_unknown_ = false;
  AnalysisInput input_;
};

}  // namespace

std::unique_ptr<Command> make_check_command() {
  return std::make_unique<CheckCommand>();
}

}  // namespace headway::cli
