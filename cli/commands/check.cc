// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "analyzer/check/budget.h"
#include "analyzer/report/report.h"
#include "analyzer/stats/table.h"
#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"

namespace headway::cli {
namespace {

using Outcome = analyzer::LimitResult::Outcome;

std::string_view outcome_id(Outcome outcome) {
  switch (outcome) {
    case Outcome::kKept:
      return "kept";
    case Outcome::kBroken:
      return "broken";
    case Outcome::kCannotTell:
      return "cannot_tell";
  }
  return "cannot_tell";
}

class CheckCommand final : public Command {
 public:
  std::string_view name() const override { return "check"; }
  std::string_view summary() const override {
    return "Compare a trace with a budget; exit code 1 when it is over (for CI)";
  }

  void declare(CLI::App& app) override {
    app.add_option("trace", trace_, "Trace file")->required()->type_name("TRACE");
    app.add_option("--budget", budget_, "TOML file with the limits (docs/user-guide/check.md)")
        ->type_name("FILE")
        ->capture_default_str();
    app.add_flag("--list", list_,
                 "List the metrics of this trace with their values, check nothing");
    app.add_flag("--json", json_, "Print the result as JSON");
    app.add_flag("--allow-unknown", allow_unknown_,
                 "Do not fail on metrics that the trace cannot tell");
    input_.declare_options(app);
  }

  int run() override {
    auto analyzed = input_.load(trace_);
    std::vector<analyzer::Metric> metrics = analyzer::metrics(analyzed->trace, analyzed->analysis);
    if (list_) {
      write_output("-", list(metrics));
      return exit_status(ExitCode::kOk);
    }
    std::vector<analyzer::LimitResult> results =
        analyzer::check_budget(analyzer::read_budget(budget_, metrics), metrics);
    bool over = false;
    for (const analyzer::LimitResult& result : results) {
      over = over || result.outcome == Outcome::kBroken ||
             (result.outcome == Outcome::kCannotTell && !allow_unknown_);
    }
    write_output("-", json_ ? as_json(results, over) : as_text(results, over, *analyzed));
    return exit_status(over ? ExitCode::kOverBudget : ExitCode::kOk);
  }

 private:
  static std::string list(const std::vector<analyzer::Metric>& metrics) {
    analyzer::Table table{"metrics", "Metrics", "", {}, {}};
    table.columns = {{"metric", "Metric", analyzer::ColumnKind::kText},
                     {"value", "Value", analyzer::ColumnKind::kNumber},
                     {"unit", "Unit", analyzer::ColumnKind::kText},
                     {"doc", "What it is", analyzer::ColumnKind::kText}};
    for (const analyzer::Metric& metric : metrics) {
      table.rows.push_back({metric.name,
                            metric.value ? analyzer::Cell(*metric.value)
                                         : analyzer::Cell(std::string("cannot tell")),
                            metric.unit, metric.doc});
    }
    return analyzer::to_text(table, {.width = 140, .indent = ""});
  }

  std::string as_text(const std::vector<analyzer::LimitResult>& results, bool over,
                      const Analyzed& analyzed) const {
    analyzer::Table table{"check", "Budget", "", {}, {}};
    table.columns = {{"metric", "Metric", analyzer::ColumnKind::kText},
                     {"limit", "Limit", analyzer::ColumnKind::kText},
                     {"actual", "Actual", analyzer::ColumnKind::kText},
                     {"outcome", "Outcome", analyzer::ColumnKind::kText}};
    for (const analyzer::LimitResult& result : results) {
      std::string actual =
          result.actual ? fmt::format("{:.2f} {}", *result.actual, result.unit) : "cannot tell";
      table.rows.push_back({result.limit.metric, result.limit.text, actual,
                            std::string(outcome_id(result.outcome))});
    }
    std::string verdict = over ? fmt::format("Over budget. {}\n",
                                             analyzer::verdict(analyzed.trace, analyzed.analysis))
                               : "Within budget.\n";
    return analyzer::to_text(table) + "\n" + verdict;
  }

  static std::string as_json(const std::vector<analyzer::LimitResult>& results, bool over) {
    nlohmann::ordered_json json;
    json["schema_version"] = 1;
    json["over_budget"] = over;
    json["limits"] = nlohmann::ordered_json::array();
    for (const analyzer::LimitResult& result : results) {
      json["limits"].push_back({{"metric", result.limit.metric},
                                {"limit", result.limit.text},
                                {"actual", result.actual ? nlohmann::ordered_json(*result.actual)
                                                         : nlohmann::ordered_json(nullptr)},
                                {"unit", result.unit},
                                {"outcome", outcome_id(result.outcome)}});
    }
    return json.dump(2) + "\n";
  }

  std::string trace_;
  std::string budget_ = "headway.toml";
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
