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

/// Throws Error with a message for the user if the file is no longer at this path.
void require_file(const std::filesystem::path& file);

/// Tables and views of an SQLite file, with Headway's description of them. Throws Error.
std::vector<SqlTable> sql_tables(const std::filesystem::path& file);

/// True when the file is an SQLite file, so that it can be queried directly.
bool is_sqlite(const std::filesystem::path& file);

/// `name` quoted as an SQL identifier.
std::string sql_name(std::string_view name);

/// The result of a query.
struct SqlAnswer {
  LinkedTable table;
  bool cut = false;
  double seconds = 0;
  std::string text;  ///< "1 000 rows in 12.3 ms; there are more"
};
inline constexpr std::size_t kSqlRows = 10'000;

/// Runs a read-only query that returns at most kSqlRows rows. Throws Error with a message for the
/// user.
SqlAnswer run_sql(const std::filesystem::path& file, const std::string& sql,
                  const std::atomic<bool>& cancelled);

inline constexpr std::size_t kPreviewRows = 1'000;
/// The query that shows the first rows of a table.
std::string preview_query(std::string_view table);
/// Runs that query and counts the rows: `text` is "First 1,000 of 48,211 rows." if there are more.
SqlAnswer preview_table(const std::filesystem::path& file, std::string_view table,
                        const std::atomic<bool>& cancelled);

/// Example queries: a title and the text. Only those whose tables the file has.
std::vector<std::pair<std::string, std::string>> sql_examples(const std::vector<SqlTable>& tables);

}  // namespace headway::gui
