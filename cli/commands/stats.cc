// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "analyzer/stats/nsys_tables.h"
#include "analyzer/stats/tables.h"
#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"
#include "cli/commands/pager.h"
#include "common/tell.h"
#include "common/text.h"
#include "trace/sqlite/query.h"

namespace headway::cli {
namespace {

using analyzer::Table;
using analyzer::TableDeclaration;

/// The result of a query as a table; a column is text when one of its values is.
Table as_table(trace::sqlite::QueryResult&& result) {
  Table table{"sql", "Result", "", {}, std::move(result.rows)};
  for (std::size_t c = 0; c < result.columns.size(); ++c) {
    bool text = std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
      return std::holds_alternative<std::string>(row[c]);
    });
    table.columns.push_back({result.columns[c], result.columns[c],
                             text ? analyzer::ColumnKind::kText : analyzer::ColumnKind::kRaw});
  }
  return table;
}

/// In text, NULL is shown where a value is missing, as in other SQL tools; CSV and JSON have their
/// own form.
void name_nulls(Table& table) {
  for (auto& row : table.rows) {
    for (analyzer::Cell& cell : row) {
      if (std::holds_alternative<std::monostate>(cell)) cell = std::string("NULL");
    }
  }
}

std::string names_of(std::span<const TableDeclaration> tables) {
  std::string list;
  for (const TableDeclaration& table : tables)
    list += fmt::format("{}{}", list.empty() ? "" : ", ", table.id);
  return list;
}

class StatsCommand final : public Command {
 public:
  std::string_view name() const override { return "stats"; }
  std::string_view summary() const override {
    return "Print tables: kernels, ops, ranges, calls, copies, steps, loaders, …; or run a query";
  }
  std::vector<Example> examples() const override {
    return {{"headway stats run.sqlite kernels calls", "two tables"},
            {"headway stats run.sqlite steps --format csv -o steps.csv", ""},
            {"headway stats run.sqlite kernels --steps 10:20 --range 'forward*'", ""},
            {"headway stats run.sqlite --sql 'SELECT count(*) FROM NVTX_EVENTS'", ""}};
  }

  void declare(CLI::App& app) override {
    std::string list = names_of(analyzer::table_declarations());
    app.add_option("trace", trace_, "Trace file, or all ranks as a folder or quoted pattern")
        ->required()
        ->type_name("TRACE");
    app.add_option("tables", tables_,
                   fmt::format("Tables to print; default: all with rows: {}. Reports of Nsight "
                               "Systems, with its columns: {}",
                               list, names_of(analyzer::nsys_table_declarations())))
        ->type_name("TABLE");
    app.add_option("--steps", steps_, "Only these steps, by number, inclusive: 10:20, 10:, 7")
        ->type_name("A:B");
    app.add_option("--rank", filter_.ranks, "Only this rank; may be repeated or 0,1,2")
        ->type_name("RANK")
        ->delimiter(',')
        ->allow_extra_args(false);
    app.add_option("--range", filter_.range,
                   "Only events inside ranges of this name; * and ? are wildcards")
        ->type_name("NAME");
    app.add_option("--op", filter_.op, "Only work of ops of this name; * and ? are wildcards")
        ->type_name("NAME");
    app.add_flag("--keep-numbers", keep_numbers_,
                 "Keep numbered range names apart (default: grouped as 'step #')");
    app.add_option(
           "--sql", sql_,
           "Run a read-only query on the SQLite file instead (tables: docs/reference/tables.md)")
        ->type_name("QUERY");
    app.add_option("--sql-timeout", sql_seconds_, "Stop the query after this time")
        ->type_name("SECONDS")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    app.add_option("--format", format_,
                   "text, csv, markdown or json (default: by -o's name, else text)")
        ->type_name("FORMAT")
        ->check(CLI::IsMember({"text", "csv", "markdown", "json"}));
    app.add_flag("--json", json_, "Same as --format json");
    app.add_option("--rows", rows_,
                   "Rows shown of each table; 0 shows all (CSV and JSON always have all)")
        ->type_name("N")
        ->capture_default_str();
    app.add_flag("--all", all_, "Write every table that has rows to its own file in folder -o");
    app.add_option("-o,--output", output_, "Write to FILE (with --all: into FOLDER) instead")
        ->type_name("PATH");
    input_.declare_options(app);
    declare_pager(app);
  }

  int run() override {
    format_ = format();
    if (!sql_.empty()) return run_query();
    if (all_ && output_ == "-")
      fail_usage(
          "--all writes one file per table; choose the folder, e.g. `headway stats {} --all -o "
          "tables`.",
          trace_);
    std::vector<const TableDeclaration*> chosen = choose();
    if (!steps_.empty()) filter_.steps = analyzer::parse_steps(steps_);
    // Nsight Systems' reports cover the whole file with all its ranks.
    const auto nsys = static_cast<std::size_t>(
        std::count_if(chosen.begin(), chosen.end(), [](auto* one) { return is_nsys(*one); }));
    std::unique_ptr<Analyzed> whole = nsys > 0 ? input_.load_whole({trace_}) : nullptr;
    // A trace without events has no verdict, but its counters and processes can be shown.
    std::unique_ptr<Analyzed> loaded =
        nsys < chosen.size() ? input_.load_job({trace_}, true) : nullptr;
    if (!loaded && nsys < chosen.size()) return exit_status(ExitCode::kOk);
    std::vector<Table> tables;
    for (const TableDeclaration* declaration : chosen) {
      const Analyzed& result = is_nsys(*declaration) ? *whole : *loaded;
      analyzer::Selection selection(result.trace, result.analysis, filter_);
      selection.keep_numbers = keep_numbers_;
      Table table = declaration->make(result.trace, result.analysis, selection);
      if (is_nsys(*declaration)) analyzer::round_as_nsys(table, format_ != "json");
      if (!table.rows.empty() || !tables_.empty()) tables.push_back(std::move(table));
    }
    if (all_)
      write_all(tables);
    else
      show(output_, render(tables));
    return exit_status(ExitCode::kOk);
  }

 private:
  std::string format() const {
    if (json_) return "json";
    if (!format_.empty()) return format_;
    if (output_.ends_with(".csv")) return "csv";
    if (output_.ends_with(".md")) return "markdown";
    return output_.ends_with(".json") ? "json" : "text";
  }

  /// A file gets the same bytes whatever the terminal.
  std::size_t width() const {
    return output_ == "-" ? terminal_width() : analyzer::TextOptions{}.width;
  }

  int run_query() {
    if (!tables_.empty() || all_ || filter_.any() || !steps_.empty())
      fail_usage("--sql excludes tables and filters.");
    Table table = as_table(run_sql());
    if (format_ == "text" || format_ == "markdown") name_nulls(table);
    std::size_t rows = rows_ == 0 ? SIZE_MAX : rows_;
    show(output_, format_ == "text"
                      ? analyzer::to_text(table, {.max_rows = rows, .width = width(), .indent = {}})
                      : render({std::move(table)}));
    return exit_status(ExitCode::kOk);
  }

  trace::sqlite::QueryResult run_sql() const {
    try {
      return trace::sqlite::query(trace_, sql_, {.seconds = sql_seconds_});
    } catch (const Error& error) {
      if (error.code() != ExitCode::kUsage) throw;
      const std::string_view why = error.what();
      fail_usage("--sql: {}{}", why, why.starts_with("stopped after") ? " (--sql-timeout)" : "");
    }
  }

  std::vector<const TableDeclaration*> choose() const {
    std::vector<const TableDeclaration*> chosen;
    std::vector<std::string> names;
    std::vector<const TableDeclaration*> known;
    for (const TableDeclaration& table : analyzer::table_declarations()) {
      names.emplace_back(table.id);
      known.push_back(&table);
    }
    if (tables_.empty()) chosen = known;
    for (const TableDeclaration& table : analyzer::nsys_table_declarations()) {
      names.emplace_back(table.id);
      known.push_back(&table);
    }
    for (const std::string& wanted : tables_) {
      auto found = std::find(names.begin(), names.end(), analyzer::nsys_table_name(wanted));
      if (found == names.end()) {
        std::error_code ignored;
        if (std::filesystem::exists(wanted, ignored))
          fail_usage("'{}' is a file, not a table. The trace comes first: headway stats {} {}",
                     wanted, wanted, trace_);
        std::vector<std::string> near = closest(wanted, names, 1);
        fail_usage("'{}' is not a table.{} Tables: {}.", wanted,
                   near.empty() ? "" : fmt::format(" Did you mean '{}'?", near[0]),
                   fmt::join(names, ", "));
      }
      chosen.push_back(known[static_cast<std::size_t>(found - names.begin())]);
    }
    return chosen;
  }

  static bool is_nsys(const TableDeclaration& table) {
    std::span<const TableDeclaration> all = analyzer::nsys_table_declarations();
    return &table >= all.data() && &table < all.data() + all.size();
  }

  /// Scripts split Nsight Systems' tables at spaces, so their names are not shortened.
  std::size_t width_of(const Table& table) const {
    std::span<const TableDeclaration> all = analyzer::nsys_table_declarations();
    bool nsys = std::any_of(all.begin(), all.end(),
                            [&](const TableDeclaration& one) { return one.id == table.id; });
    return nsys ? SIZE_MAX : width();
  }

  /// Writes one file per table, as CSV unless another format is requested.
  void write_all(const std::vector<Table>& tables) {
    std::string extension = format_ == "markdown" ? ".md" : format_ == "json" ? ".json" : ".csv";
    if (format_ == "text") format_ = "csv";
    make_folder(output_);
    for (const Table& table : tables)
      write_output((std::filesystem::path(output_) / (table.id + extension)).string(),
                   render({table}));
    tell(fmt::format("wrote {} tables into {}\n", tables.size(), escape_terminal(output_)));
  }

  std::string render(const std::vector<Table>& tables) const {
    std::size_t rows = rows_ == 0 || all_ ? SIZE_MAX : rows_;
    if (format_ == "json") {
      nlohmann::ordered_json json;
      json["schema_version"] = 1;
      json["tables"] = nlohmann::ordered_json::array();
      for (const Table& table : tables) json["tables"].push_back(analyzer::to_json(table));
      return json.dump(2) + "\n";
    }
    if (format_ == "csv" && tables.size() != 1) {
      fail_usage(
          "CSV holds one table; name it, e.g. `headway stats {} kernels --format csv`, or write "
          "all with --all -o FOLDER.",
          trace_);
    }
    std::string out;
    for (const Table& table : tables) {
      if (format_ == "csv") return analyzer::to_csv(table);
      std::string note =
          table.note.empty() ? "" : fmt::format("  ({})", escape_terminal(table.note));
      if (format_ == "markdown") {
        out += fmt::format("### {}\n\n{}\n\n{}\n", table.title, escape_markdown(table.note),
                           analyzer::to_markdown(table, rows));
      } else {
        out += fmt::format(
            "{}{}{}\n{}", out.empty() ? "" : "\n", table.title, note,
            analyzer::to_text(table, {.max_rows = rows, .width = width_of(table), .indent = "  "}));
      }
    }
    return out;
  }

  std::string trace_;
  std::vector<std::string> tables_;
  analyzer::Filter filter_;
  std::string steps_;
  std::string sql_;
  double sql_seconds_ = 60;
  std::string format_;
  std::string output_ = "-";
  std::size_t rows_ = 20;
  bool json_ = false;
  bool all_ = false;
  bool keep_numbers_ = false;
  AnalysisInput input_;
};

}  // namespace

std::unique_ptr<Command> make_stats_command() {
  return std::make_unique<StatsCommand>();
}

}  // namespace headway::cli
