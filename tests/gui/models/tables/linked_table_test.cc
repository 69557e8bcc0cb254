// SPDX-License-Identifier: MIT
#include "gui/models/tables/linked_table.h"

#include <doctest/doctest.h>

#include <chrono>

namespace headway::gui {
namespace {

using analyzer::Cell;
using analyzer::ColumnKind;

LinkedTable sample() {
  LinkedTable table;
  table.table.columns = {{"name", "Name", ColumnKind::kText},
                         {"total_ns", "Total", ColumnKind::kDuration},
                         {"rate", "Rate", ColumnKind::kByteRate},
                         {"note", "Note", ColumnKind::kText}};
  table.table.rows = {{std::string("beta gemm"), std::int64_t{20}, Cell(), std::string()},
                      {std::string("alpha GEMM"), std::int64_t{30}, 2.5e9, std::string()},
                      {std::string("alpha relu"), std::int64_t{10}, 1e9, std::string()},
                      {std::string("gamma"), std::int64_t{30}, Cell(), std::string()}};
  table.docs = {"a", "b", "c", "d"};
  table.bar_column = 2;
  table.sort_column = 1;
  return table;
}

}  // namespace

TEST_CASE("rows sort by numbers and texts, unknown last either way, ties in their order") {
  LinkedTable table = sample();
  CHECK(arranged(table, {1, true, ""}) == std::vector<std::uint32_t>{1, 3, 0, 2});
  CHECK(arranged(table, {1, false, ""}) == std::vector<std::uint32_t>{2, 0, 1, 3});
  CHECK(arranged(table, {2, true, ""}) == std::vector<std::uint32_t>{1, 2, 0, 3});
  CHECK(arranged(table, {2, false, ""}) == std::vector<std::uint32_t>{2, 1, 0, 3});
  CHECK(arranged(table, {0, false, ""}) == std::vector<std::uint32_t>{1, 2, 0, 3});
  CHECK(arranged(table, {}) == std::vector<std::uint32_t>{0, 1, 2, 3});
}

TEST_CASE("a filter keeps rows that hold each of its words, in either case") {
  LinkedTable table = sample();
  CHECK(arranged(table, {-1, true, "gemm"}) == std::vector<std::uint32_t>{0, 1});
  CHECK(arranged(table, {-1, true, " GEMM  alpha "}) == std::vector<std::uint32_t>{1});
  CHECK(arranged(table, {-1, true, "   "}).size() == 4);
  CHECK(arranged(table, {-1, true, "nowhere"}).empty());
}

TEST_CASE("columns that hold nothing go, and what refers to columns follows") {
  LinkedTable table = sample();
  table.drop_unknown_columns();
  CHECK(table.column("note") == -1);
  CHECK(table.docs.size() == 3);
  for (auto& row : table.table.rows) row[1] = Cell();
  table.drop_unknown_columns();
  CHECK(table.column("rate") == 1);
  CHECK(table.bar_column == 1);
  CHECK(table.sort_column == -1);
}

TEST_CASE("cells are fit to be shown and copied") {
  LinkedTable table = sample();
  CHECK(cell_text({"n", "N", ColumnKind::kText}, std::string("a\nb\tc")) == "a\uFFFDb\uFFFDc");
  CHECK(cell_text({"n", "N", ColumnKind::kNumber}, 8.0) == "8");
  CHECK(cell_text({"n", "N", ColumnKind::kNumber}, 8.25) == "8.25");
  CHECK(cell_text({"n", "N", ColumnKind::kByteRate}, Cell()) == "–");
  std::vector<std::uint32_t> rows = {2};
  CHECK(to_tabbed(rows_of(table, rows)) ==
        "Name\tTotal\tRate\tNote\nalpha relu\t10 ns\t1 GB/s\t\n");
  CHECK(analyzer::to_csv(rows_of(table, rows)) ==
        "name,total_ns,rate,note\r\nalpha relu,10,1000000000,\r\n");
}

TEST_CASE("a hundred thousand rows are sorted and filtered while a person does not notice") {
  LinkedTable table = sample();
  table.table.rows.clear();
  for (std::int64_t i = 0; i < 100'000; ++i)
    table.table.rows.push_back({"kernel " + std::to_string(i * 7919 % 100'000), i * 31 % 1000,
                                static_cast<double>(i), std::string()});
  auto begin = std::chrono::steady_clock::now();
  CHECK(arranged(table, {1, true, ""}).size() == 100'000);
  CHECK(arranged(table, {0, true, "9"}).size() > 1000);
  // A hundred times what it takes: this guards against a change of order, not against a slow machine.
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

}  // namespace headway::gui
