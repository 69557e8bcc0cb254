// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "analyzer/stats/tables.h"
#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"
#include "common/text.h"
#include "trace/load/load.h"

namespace headway::cli {
namespace {

class StatsCommand final : public Command {
 public:
  std::string_view name() const override { return "stats"; }
  std::string_view summary() const override {
    return "Print tables: kernels, ops, ranges, calls, copies, steps, loaders, …";
  }

  void declare(CLI::App& app) override {
    std::string list;
    for (const analyzer::TableDeclaration& table : analyzer::table_declarations())
      list += fmt::format("{}{}", list.empty() ? "" : ", ", table.id);
    app.add_option("trace", trace_,
                   "Trace file, or a folder or quoted pattern with those of all ranks")
        ->required()
        ->type_name("TRACE");
    app.add_option("tables", tables_,
                   fmt::format("Tables to print, all that have rows by default: {}", list))
        ->type_name("TABLE");
    app.add_option("--format", format_, "text, csv, markdown or json")
        ->type_name("FORMAT")
        ->check(CLI::IsMember({"text", "csv", "markdown", "json"}));
    app.add_flag("--json", json_, "Same as --format json");
    app.add_option("--rows", rows_,
                   "Rows shown of each table; 0 shows all (CSV and JSON always have all)")
        ->type_name("N")
        ->capture_default_str();
    app.add_option("-o,--output", output_, "Write to FILE instead of the terminal")
        ->type_name("FILE");
    input_.declare_options(app);
  }

  int run() override {
    if (json_) format_ = "json";
    std::vector<const analyzer::TableDeclaration*> chosen = choose();
    int exit_code = 0;
    std::unique_ptr<Analyzed> loaded = load(exit_code);
    if (!loaded) return exit_code;
    Analyzed& result = *loaded;
    std::vector<analyzer::Table> tables;
    for (const analyzer::TableDeclaration* declaration : chosen) {
      analyzer::Table table = declaration->make(result.trace, result.analysis);
      if (!table.rows.empty() || !tables_.empty()) tables.push_back(std::move(table));
    }
    write_output(output_, render(tables));
    return exit_status(ExitCode::kOk);
  }

 private:
  std::unique_ptr<Analyzed> load(int& exit_code) const {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(trace_, ignored)) {
      auto loaded = std::make_unique<Analyzed>();
      loaded->trace = trace::load(trace_);
      // A trace without events has no verdict, but its counters and processes are worth seeing.
      if (loaded->trace.event_count() == 0) return loaded;
    }
    return input_.load_job({trace_}, exit_code);
  }

  std::vector<const analyzer::TableDeclaration*> choose() const {
    std::vector<const analyzer::TableDeclaration*> chosen;
    std::vector<std::string> names;
    for (const analyzer::TableDeclaration& table : analyzer::table_declarations()) {
      names.emplace_back(table.id);
      if (tables_.empty()) chosen.push_back(&table);
    }
    for (const std::string& wanted : tables_) {
      auto found = std::find(names.begin(), names.end(), wanted);
      if (found == names.end()) {
        std::vector<std::string> near = closest(wanted, names, 1);
        fail_usage("'{}' is not a table.{} Tables: {}.", wanted,
                   near.empty() ? "" : fmt::format(" Did you mean '{}'?", near[0]),
                   fmt::join(names, ", "));
      }
      chosen.push_back(
          &analyzer::table_declarations()[static_cast<std::size_t>(found - names.begin())]);
    }
    return chosen;
  }

  std::string render(const std::vector<analyzer::Table>& tables) const {
    std::size_t rows = rows_ == 0 ? SIZE_MAX : rows_;
    if (format_ == "json") {
      nlohmann::ordered_json json;
      json["schema_version"] = 1;
      json["tables"] = nlohmann::ordered_json::array();
      for (const analyzer::Table& table : tables)
        json["tables"].push_back(analyzer::to_json(table));
      return json.dump(2) + "\n";
    }
    if (format_ == "csv" && tables.size() != 1) {
      fail_usage(
          "--format csv prints one table; name it, e.g. `headway stats {} kernels --format csv`.",
          trace_);
    }
    std::string out;
    for (const analyzer::Table& table : tables) {
      if (format_ == "csv") return analyzer::to_csv(table);
      std::string note = table.note.empty() ? "" : fmt::format("  ({})", table.note);
      if (format_ == "markdown") {
        out += fmt::format("### {}\n\n{}\n\n{}\n", table.title, table.note,
                           analyzer::to_markdown(table, rows));
      } else {
        out += fmt::format("{}{}{}\n{}", out.empty() ? "" : "\n", table.title, note,
                           analyzer::to_text(table, {.max_rows = rows, .indent = "  "}));
      }
    }
    return out;
  }

  std::string trace_;
  std::vector<std::string> tables_;
  std::string format_ = "text";
  std::string output_ = "-";
  std::size_t rows_ = 20;
  bool json_ = false;
  AnalysisInput input_;
};

}  // namespace

std::unique_ptr<Command> make_stats_command() {
  return std::make_unique<StatsCommand>();
}

}  // namespace headway::cli
