// SPDX-License-Identifier: MIT
#include "gui/models/tables/sql.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "common/error.h"
#include "common/format.h"
#include "gui/models/text/display_text.h"
#include "trace/schema/table.h"
#include "trace/sqlite/query.h"
#include "trace/tables/all.h"

namespace headway::gui {
namespace {

using analyzer::ColumnKind;

constexpr std::int64_t kLatest = std::int64_t{10} * 365 * 86400 * 1'000'000'000;  ///< ten years
constexpr double kSeconds = 600;  // time limit; the user can stop a query before

/// Adds the descriptions that Headway declares for its tables and those of Nsight Systems.
void add_docs(SqlTable& table) {
  trace::for_each_table([&]<class Table>() {
    if (Table::name != table.name) return;
    const trace::TableDescription& declared = trace::describe<Table>();
    table.doc = declared.doc;
    for (SqlTable::Column& column : table.columns) {
      for (const auto& one : declared.columns) {
        if (one.name == column.name) column.doc = one.doc;
      }
    }
  });
}

/// A column of a result is a text column if any of its values is a text.
ColumnKind kind_of(const trace::sqlite::QueryResult& result, std::size_t column) {
  bool text = std::any_of(result.rows.begin(), result.rows.end(), [&](const auto& row) {
    return std::holds_alternative<std::string>(row[column]);
  });
  return text ? ColumnKind::kText : ColumnKind::kRaw;
}

/// Rows with a start link to that time, because events of the file's tables have a start.
void add_times(LinkedTable& table) {
  int start = table.column("start");
  int end = table.column("end");
  if (start < 0) return;
  auto value = [&](const auto& row, int column) -> std::optional<std::int64_t> {
    const auto* held = std::get_if<std::int64_t>(&row[static_cast<std::size_t>(column)]);
    return held && std::abs(*held) < kLatest ? std::optional(*held) : std::nullopt;
  };
  for (const auto& row : table.table.rows) {
    std::int64_t from = value(row, start).value_or(0);
    std::int64_t to = end < 0 ? from : value(row, end).value_or(from);
    std::int64_t around = std::max<std::int64_t>(to - from, 100);
    table.views.push_back({{from - around}, {std::max(from, to) + around}});
  }
}

}  // namespace

void require_file(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    fail_input("The file {} was moved or deleted. Queries need it; other pages still work.",
               display_text(file.string(), 200));
}

std::vector<SqlTable> sql_tables(const std::filesystem::path& file) {
  std::vector<SqlTable> tables;
  for (trace::sqlite::TableInfo& info : trace::sqlite::list_tables(file)) {
    SqlTable& table = tables.emplace_back();
    table.name = std::move(info.name);
    for (auto& [name, type] : info.columns)
      table.columns.push_back({std::move(name), std::move(type), {}});
    add_docs(table);
  }
  return tables;
}

bool is_sqlite(const std::filesystem::path& file) {
  std::string begin(15, '\0');
  std::ifstream in(file, std::ios::binary);
  return in.read(begin.data(), static_cast<std::streamsize>(begin.size())) &&
         begin == "SQLite format 3";
}

std::string sql_name(std::string_view name) {
  std::string quoted = "\"";
  for (char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

SqlAnswer run_sql(const std::filesystem::path& file, const std::string& sql,
                  const std::atomic<bool>& cancelled) {
  require_file(file);
  auto begin = std::chrono::steady_clock::now();
  trace::sqlite::QueryResult result = trace::sqlite::query(
      file, sql, {.seconds = kSeconds, .rows = kSqlRows, .cancelled = &cancelled});
  SqlAnswer answer;
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  answer.seconds = took.count();
  answer.cut = result.cut;
  answer.table.table.id = "sql";
  answer.table.table.title = "Result";
  for (std::size_t c = 0; c < result.columns.size(); ++c)
    answer.table.table.columns.push_back(
        {result.columns[c], result.columns[c], kind_of(result, c)});
  answer.table.table.rows = std::move(result.rows);
  add_times(answer.table);
  std::int64_t rows = static_cast<std::int64_t>(answer.table.table.rows.size());
  answer.text = fmt::format(
      "{} row{} in {}{}", format_count(rows), rows == 1 ? "" : "s",
      format_duration({static_cast<std::int64_t>(answer.seconds * 1e9)}),
      answer.cut
          ? fmt::format(". Only the first {} rows are shown. Add LIMIT … OFFSET …, or aggregate.",
                        format_count(rows))
          : ".");
  return answer;
}

std::string preview_query(std::string_view table) {
  return fmt::format("SELECT * FROM {} LIMIT {}", sql_name(table), kPreviewRows);
}

SqlAnswer preview_table(const std::filesystem::path& file, std::string_view table,
                        const std::atomic<bool>& cancelled) {
  SqlAnswer answer = run_sql(file, preview_query(table), cancelled);
  const std::size_t shown = answer.table.table.rows.size();
  if (shown < kPreviewRows) return answer;
  const SqlAnswer all =
      run_sql(file, fmt::format("SELECT count(*) FROM {}", sql_name(table)), cancelled);
  const auto count = std::get<std::int64_t>(all.table.table.rows.at(0).at(0));
  answer.cut = static_cast<std::size_t>(count) > shown;
  if (answer.cut)
    answer.text = fmt::format("First {} of {} rows.",
                              format_count(static_cast<std::int64_t>(shown)), format_count(count));
  return answer;
}

std::vector<std::pair<std::string, std::string>> sql_examples(const std::vector<SqlTable>& tables) {
  auto has = [&](std::string_view name) {
    return std::any_of(tables.begin(), tables.end(),
                       [&](const SqlTable& table) { return table.name == name; });
  };
  std::vector<std::pair<std::string, std::string>> examples;
  if (has("CUPTI_ACTIVITY_KIND_KERNEL") && has("StringIds"))
    examples.emplace_back("Kernels by total time",
                          "SELECT s.value AS kernel, count(*) AS count, sum(k.end - k.start) / 1e6 "
                          "AS total_ms\nFROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id "
                          "= k.demangledName\nGROUP BY s.value ORDER BY total_ms DESC LIMIT 50");
  if (has("HEADWAY_DEVICE_OP") && has("StringIds"))
    examples.emplace_back("Device ops by total time",
                          "SELECT s.value AS op, count(*) AS count, sum(d.end - d.start) / 1e6 AS "
                          "total_ms\nFROM HEADWAY_DEVICE_OP d JOIN StringIds s ON s.id = "
                          "d.nameId\nGROUP BY s.value ORDER BY total_ms DESC LIMIT 50");
  if (has("NVTX_EVENTS"))
    examples.emplace_back("Longest ranges",
                          "SELECT coalesce(e.text, s.value) AS name, e.start, (e.end - e.start) / "
                          "1e6 AS ms\nFROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = "
                          "e.textId\nWHERE e.end IS NOT NULL ORDER BY ms DESC LIMIT 50");
  if (has("HEADWAY_LOSS")) examples.emplace_back("Lost records", "SELECT * FROM HEADWAY_LOSS");
  examples.emplace_back("All tables", "SELECT name, type, sql FROM sqlite_master");
  return examples;
}

}  // namespace headway::gui
