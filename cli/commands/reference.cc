// SPDX-License-Identifier: MIT
// `headway reference PAGE`: the pages of docs/reference/ as Markdown, made from the declarations
// themselves.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <nlohmann/json.hpp>

#include "analyzer/check/budget.h"
#include "analyzer/model/time_class.h"
#include "analyzer/report/json_keys.h"
#include "analyzer/rules/registry.h"
#include "analyzer/stats/tables.h"
#include "analyzer/whatif/fix.h"
#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"
#include "trace/loss_counters.h"
#include "trace/meta_keys.h"
#include "trace/tables/all.h"

namespace headway::cli {
namespace {

constexpr std::string_view kGenerated =
    "<!-- Made by `headway reference {}`; edit the declarations, not this page. -->\n\n";

/// Escapes our own text, which may contain Markdown, for a table cell.
std::string cell(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string header(std::string_view page, std::string_view title, std::string_view text) {
  return fmt::format(fmt::runtime(kGenerated), page) + fmt::format("# {}\n\n{}\n", title, text);
}

std::string tables_page() {
  std::string out =
      header("tables", "Tables of the trace file",
             fmt::format("Schema version {}. Tables marked *nsys* have the names, columns, units "
                         "and encodings of Nsight Systems' SQLite export; "
                         "the others are Headway's own. A table exists when it has rows. How to "
                         "use them: [file-format.md](../file-format.md).",
                         trace::kSchemaVersion));
  trace::for_each_table([&]<class Table>() {
    const trace::TableDescription& table = trace::describe<Table>();
    out += fmt::format(
        "\n## {}{}\n\n{}\n\n| column | type | unit | meaning |\n| --- | --- | --- | --- |\n",
        table.name, table.of_nsys ? " *(nsys)*" : "", table.doc);
    for (const auto& column : table.columns) {
      std::string type =
          fmt::format("{}{}{}", column.sql_type, column.nullable ? ", may be NULL" : "",
                      column.primary_key ? ", primary key" : "");
      std::string reference = column.references_strings ? "`StringIds.id`: " : "";
      out += fmt::format("| {} | {} | {} | {}{} |\n", column.name, type,
                         trace::unit_name(column.unit), reference, cell(column.doc));
    }
  });
  return out;
}

std::string losses_page() {
  std::string out = header("losses", "Loss counters",
                           "Nothing is dropped silently: `HEADWAY_LOSS` or the reader counts each "
                           "of these and prints it first.");
  out += "\n| counter | severity | meaning |\n| --- | --- | --- |\n";
  for (const auto& loss : trace::loss_declarations())
    out += fmt::format("| {} | {} | {} |\n", loss.name, trace::severity_name(loss.severity),
                       cell(loss.text));
  return out;
}

std::string meta_page() {
  std::string out =
      header("meta", "Keys of HEADWAY_META", "Every key is optional but `schema_version`.");
  out += "\n| key | meaning |\n| --- | --- |\n";
  for (const auto& key : trace::meta_keys())
    out += fmt::format("| `{}` | {} |\n", key.key, cell(key.doc));
  return out;
}

std::string classes_page() {
  std::string out =
      header("time-classes", "Classes of a step's time",
             "Every nanosecond of a device's step has exactly one class, so the classes sum to the "
             "step. Busy time belongs to the first class that runs. Idle time belongs to the "
             "*binding constraint* of the next op: what that op was waiting for.");
  out += "\n| class | label | meaning |\n| --- | --- | --- |\n";
  for (const auto& c : analyzer::time_classes())
    out += fmt::format("| `{}` | {} | {} |\n", c.id, c.label, cell(c.doc));
  return out;
}

std::string rules_page() {
  std::string out =
      header("rules", "Rules",
             "A rule answers *found*, *fine* or *cannot tell*. The head comment of each file in "
             "`analyzer/rules/` has formula, falsification and known false positives.");
  out += "\n| rule | fires on |\n| --- | --- |\n";
  for (const analyzer::Rule* rule : analyzer::all_rules())
    out += fmt::format("| `{}` | {} |\n", rule->id, cell(rule->fires_on));
  return out;
}

std::string fixes_page() {
  std::string out =
      header("fixes", "Fixes that can be predicted",
             "For `headway whatif` and for the rule's findings ([user "
             "guide](../user-guide/whatif.md)). *Structural* fixes remove waits or tasks; "
             "*modelled* fixes compute new durations; a *ceiling* is the largest possible gain of "
             "its kind. *Doubt*: the formula's possible error as a share of the gain; it widens "
             "the interval. Measured errors: [accuracy](../accuracy.md).");
  constexpr std::string_view kHead =
      "\n| fix | for | kind | doubt | what changes | unknown from a recording | headway-train |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  auto add = [&](const analyzer::Fix* fix) {
    out += fmt::format("| `{}` | {} | {} | {:.0f} % | {} | {} | {} |\n", fix->id, fix->rule,
                       analyzer::fix_kind_id(fix->kind), 100 * fix->model_error, cell(fix->change),
                       cell(fix->cannot_know),
                       fix->trainer_switch.empty() ? "" : fmt::format("`{}`", fix->trainer_switch));
  };
  out += kHead;
  for (const analyzer::Fix* fix : analyzer::all_fixes()) add(fix);
  out +=
      "\n## On request\n\nThese change what is trained, and no recording shows whether it bears "
      "that. No report proposes them: `headway whatif TRACE --fix ID` predicts them.\n";
  out += kHead;
  for (const analyzer::Fix* fix : analyzer::fixes_on_request()) add(fix);
  return out;
}

std::string budgets_page() {
  std::string out = header("budgets", "Metrics that a budget may limit",
                           "For `headway check` ([user guide](../user-guide/check.md)).");
  out += "\n| metric | unit | meaning |\n| --- | --- | --- |\n";
  auto row = [&](std::string_view name, std::string_view unit, std::string_view doc) {
    out += fmt::format("| `{}` | {} | {} |\n", name, unit, cell(doc));
  };
  for (const analyzer::Metric& metric : analyzer::metrics({}, {}))
    row(metric.name, metric.unit, metric.doc);
  for (const analyzer::NamedMetric& metric : analyzer::named_metrics())
    row(fmt::format("{}.\"NAME\".{}", metric.kind, metric.field), metric.unit, metric.doc);
  for (const analyzer::Metric& metric : analyzer::baseline_metrics())
    row(metric.name, metric.unit, metric.doc);
  return out;
}

std::string stats_page() {
  std::string out = header("stats", "Tables of headway stats",
                           "`headway stats TRACE TABLE`. With `--format csv` or `json`, columns "
                           "contain raw numbers in the unit of their name.");
  out += "\n| table | what it shows | over what |\n| --- | --- | --- |\n";
  for (const analyzer::TableDeclaration& table : analyzer::table_declarations())
    out += fmt::format("| `{}` | {} | {} |\n", table.id, cell(table.doc), cell(table.over));
  return out;
}

std::string report_json_page() {
  std::string out = header(
      "report-json", "The JSON report",
      "`headway report TRACE --json`. Times are nanoseconds, shares are 0 to 1. The same as a JSON "
      "Schema: [report.schema.json](report.schema.json).");
  out += "\n| key | type | meaning |\n| --- | --- | --- |\n";
  for (const analyzer::JsonKey& key : analyzer::report_json_keys())
    out += fmt::format("| `{}` | {} | {} |\n", key.path, key.type, cell(key.doc));
  return out;
}

std::string report_schema_page() {
  return analyzer::report_json_schema().dump(2) + "\n";
}

std::string cli_page() {
  std::string out = header(
      "cli", "Command line",
      "What `headway COMMAND --help` prints. Exit codes: 0 fine, 1 over budget, 2 usage, 3 bad "
      "input, 4 internal error; `record` passes on the exit code of the recorded command.");
  for (const auto& command : all_commands()) {
    CLI::App app{std::string(command->summary()), fmt::format("headway {}", command->name())};
    declare(*command, app);
    out += fmt::format("\n## headway {}\n\n", command->name());
    if (command->name() != "reference")  // this page is its own
      out += fmt::format("[User guide](../user-guide/{}.md)\n\n", command->name());
    out += fmt::format("```text\n{}```\n", app.help());
  }
  return out;
}

struct Page {
  std::string_view name;
  std::string (*make)();
};
constexpr std::array<Page, 11> kPages = {{{"tables", tables_page},
                                          {"losses", losses_page},
                                          {"meta", meta_page},
                                          {"time-classes", classes_page},
                                          {"rules", rules_page},
                                          {"fixes", fixes_page},
                                          {"budgets", budgets_page},
                                          {"stats", stats_page},
                                          {"cli", cli_page},
                                          {"report-json", report_json_page},
                                          {"report-schema", report_schema_page}}};

class ReferenceCommand final : public Command {
 public:
  std::string_view name() const override { return "reference"; }
  std::string_view summary() const override {
    return "Print a page of the reference documentation as Markdown";
  }
  std::vector<Example> examples() const override {
    return {{"headway reference time-classes", ""}};
  }

  void declare(CLI::App& app) override {
    std::vector<std::string> names;
    for (const Page& page : kPages) names.emplace_back(page.name);
    app.add_option("page", page_, fmt::format("Page: {}", fmt::join(names, ", ")))
        ->required()
        ->type_name("PAGE")
        ->check(CLI::IsMember(names));
  }

  int run() override {
    for (const Page& page : kPages) {
      if (page.name == page_) write_output("-", page.make());
    }
    return exit_status(ExitCode::kOk);
  }

 private:
  std::string page_;
};

}  // namespace

std::unique_ptr<Command> make_reference_command() {
  return std::make_unique<ReferenceCommand>();
}

}  // namespace headway::cli
