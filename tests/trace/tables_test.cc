// SPDX-License-Identifier: MIT
#include "trace/tables/all.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>

namespace headway::trace {
namespace {

std::vector<const TableDescription*> all_tables() {
  std::vector<const TableDescription*> tables;
  for_each_table([&]<class Table>() { tables.push_back(&describe<Table>()); });
  return tables;
}

}  // namespace

TEST_CASE("the list of tables and the folder of declarations hold the same") {
  std::size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(HEADWAY_SOURCE_DIR "/trace/tables")) {
    files += entry.path().extension() == ".h" && entry.path().filename() != "all.h";
  }
  CHECK(files == all_tables().size());
}

TEST_CASE("every table and column is documented, names are unique, ours begin with HEADWAY_") {
  std::set<std::string_view> names;
  for (const TableDescription* table : all_tables()) {
    CAPTURE(table->name);
    CHECK(names.insert(table->name).second);
    CHECK(table->name.starts_with("HEADWAY_") != table->of_nsys);
    CHECK(table->doc.ends_with("."));
    std::set<std::string_view> columns;
    for (const auto& column : table->columns) {
      CAPTURE(column.name);
      CHECK(columns.insert(column.name).second);
      CHECK(column.doc.ends_with("."));
      CHECK(column.doc.find('\n') == std::string_view::npos);
    }
    for (std::string_view index : table->indexes) CHECK(columns.contains(index));
  }
}

TEST_CASE("the SQL of a table shows type, constraint, reference and unit") {
  std::string sql = create_table_sql(describe<tables::Kernel>());
  CHECK(sql.starts_with("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL ("));
  CHECK(sql.find("start                       INTEGER  NOT NULL   , -- Start, since the session "
                 "start. (ns)\n") != std::string::npos);
  CHECK(sql.find("REFERENCES StringIds(id)") != std::string::npos);
  CHECK(sql.ends_with("\n)"));
}

}  // namespace headway::trace
