// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "gui/models/tables/linked_table.h"

namespace headway::gui {

/// A table of the trace file.
struct SqlTable {
  struct Column {
    std::string name;
    std::string type;
    std::string doc;  ///< with its unit; empty for columns that Headway does not declare
  };
  std::string name;
  std::string doc;
  std::vector<Column> columns;
};

/// Throws Error in words when the file is no longer where it was opened.
void require_file(const std::filesystem::path& file);

/// Tables and views of an SQLite file with what Headway knows of them. Throws Error.
std::vector<SqlTable> sql_tables(const std::filesystem::path& file);

/// True when the file itself can be queried.
bool is_sqlite(const std::filesystem::path& file);

/// A name as an identifier of SQL.
std::string sql_name(std::string_view name);

/// What a query gave.
struct SqlAnswer {
  LinkedTable table;
  bool cut = false;
  double seconds = 0;
  std::string text;  ///< "1 000 rows in 12.3 ms; there are more"
};
inline constexpr std::size_t kSqlRows = 10'000;

/// Runs a query that can only read, at most kSqlRows rows. Throws Error in words.
SqlAnswer run_sql(const std::filesystem::path& file, const std::string& sql,
                  const std::atomic<bool>& cancelled);

inline constexpr std::size_t kPreviewRows = 1'000;
/// The query that shows the begin of a table.
std::string preview_query(std::string_view table);
/// Runs it and counts: `text` is "First 1,000 of 48,211 rows." where the table has more.
SqlAnswer preview_table(const std::filesystem::path& file, std::string_view table,
                        const std::atomic<bool>& cancelled);

/// Queries to begin with: a title and the text. Only such whose tables the file has.
std::vector<std::pair<std::string, std::string>> sql_examples(const std::vector<SqlTable>& tables);

}  // namespace headway::gui
