// SPDX-License-Identifier: MIT
// Exports a saved file, so that the CSV tables cannot differ from the tables of the file format.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <system_error>

#include "common/csv.h"
#include "common/error.h"
#include "trace/export/export.h"
#include "trace/export/sink.h"
#include "trace/save/save.h"
#include "trace/sqlite/database.h"
#include "trace/tables/all.h"

namespace headway::trace {
namespace {

using export_detail::Sink;

std::string file_name(std::string_view table) {
  std::string name;
  for (char c : table) name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name + ".csv";
}

/// The SQL that reads a table, with names instead of ids of StringIds.
std::string query(const TableDescription& table) {
  std::string columns;
  for (const auto& column : table.columns) {
    if (!columns.empty()) columns += ", ";
    columns += column.references_strings
                   ? fmt::format("(SELECT value FROM StringIds WHERE id=t.\"{}\")", column.name)
                   : fmt::format("t.\"{}\"", column.name);
  }
  return fmt::format("SELECT rowid, {} FROM {} t ORDER BY rowid", columns, table.name);
}

void write_table(const sqlite::Database& db, const TableDescription& table, Sink& sink) {
  std::string& out = sink.buffer();
  out += "row";
  for (const auto& column : table.columns) {
    out += ',';
    out += csv_field(column.name);
  }
  out += "\r\n";
  sqlite::Statement statement = db.prepare(query(table));
  int columns = static_cast<int>(table.columns.size()) + 1;
  while (statement.step()) {
    for (int i = 0; i < columns; ++i) {
      if (i) out += ',';
      if (statement.is_null(i)) continue;
      out += statement.is_number(i) ? std::string(statement.text(i)) : csv_field(statement.text(i));
    }
    out += "\r\n";
    sink.flush_if_full();
  }
  sink.finish();
}

}  // namespace

void export_csv(const Trace& trace, const std::filesystem::path& folder,
                const ExportOptions& options) {
  std::error_code error;
  if (std::filesystem::exists(folder, error) && !std::filesystem::is_directory(folder, error))
    fail_usage("{}: is a file; -o expects a folder for the tables.", folder.string());
  std::filesystem::create_directories(folder, error);
  if (error) fail_usage("{}: cannot create: {}.", folder.string(), error.message());
  // Never committed: the destructor removes it.
  TemporaryFile file(folder / ".tables", true);
  save(trace, file.path());
  sqlite::Database db = sqlite::Database::open_read_only(file.path());
  std::vector<const TableDescription*> tables;
  for_each_table([&]<class Table>() {
    // StringIds is joined into the other tables.
    if (Table::name != tables::StringIds::name && db.has_table(Table::name))
      tables.push_back(&describe<Table>());
  });
  for (const TableDescription* table : tables) {
    if (!options.overwrite && std::filesystem::exists(folder / file_name(table->name), error))
      fail_usage("{}: already exists. Use --force to overwrite it, or -o for another folder.",
                 (folder / file_name(table->name)).string());
  }
  for (const TableDescription* table : tables) {
    Sink sink(folder / file_name(table->name), options.overwrite);
    write_table(db, *table, sink);
  }
}

}  // namespace headway::trace
