// SPDX-License-Identifier: MIT
#include "trace/sqlite/table_pages.h"

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace headway::trace::sqlite {
namespace {

/// A file of SQLite's own making.
class File {
 public:
  File() { REQUIRE(sqlite3_open(path.c_str(), &db_) == SQLITE_OK); }
  ~File() { sqlite3_close(db_); }
  void run(const std::string& sql) {
    CAPTURE(sql);
    REQUIRE(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  }

 private:
  test::TemporaryFolder folder_;

 public:
  const std::filesystem::path path = folder_.path() / "file.sqlite";

 private:
  sqlite3* db_ = nullptr;
};

using Columns = std::vector<std::string_view>;

struct Read {
  std::vector<std::string> rows;
  std::optional<std::int64_t> rest;
};

std::string text_of(const Cell& cell) {
  if (cell.is_null()) return "NULL";
  if (cell.is_integer()) return std::to_string(cell.integer());
  if (cell.is_real()) return "r" + std::to_string(cell.real());
  return cell.is_text() ? "'" + std::string(cell.text()) + "'" : "blob";
}

/// What is read of columns a, b and c.
Read read(const Database& db, std::int64_t first = INT64_MIN, std::int64_t last = INT64_MAX) {
  Read result;
  auto pages = TablePages::open(db, "t", Columns{"a", "b", "c"});
  REQUIRE(pages);
  result.rest =
      pages->visit(first, last, &result, [](void* client, std::int64_t id, const Cell* cells) {
        std::string row = std::to_string(id);
        for (int i = 0; i < 3; ++i) row += "|" + text_of(cells[i]);
        static_cast<Read*>(client)->rows.push_back(row);
        return true;
      });
  return result;
}

/// The same by SQLite.
std::vector<std::string> expected(const Database& db, std::int64_t first = INT64_MIN,
                                  std::int64_t last = INT64_MAX) {
  std::vector<std::string> rows;
  Statement statement =
      db.prepare("SELECT rowid,a,b,c FROM t WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid");
  statement.bind(1, first);
  statement.bind(2, last);
  while (statement.step()) {
    std::string row = std::to_string(statement.int64(0));
    for (int i = 1; i <= 3; ++i) {
      row += "|";
      switch (sqlite3_column_type(statement.handle(), i)) {
        case SQLITE_NULL:
          row += "NULL";
          break;
        case SQLITE_INTEGER:
          row += std::to_string(statement.int64(i));
          break;
        case SQLITE_FLOAT:
          row += "r" + std::to_string(statement.real(i));
          break;
        case SQLITE_TEXT:
          row += "'" + std::string(statement.text(i)) + "'";
          break;
        default:
          row += "blob";
      }
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

TEST_CASE("rows from the pages are those that SQLite reads, in files of many forms") {
  std::mt19937_64 random(22);
  for (int page_size : {512, 1024, 4096, 16384, 65536}) {
    for (const char* vacuum : {"NONE", "FULL"}) {
      CAPTURE(page_size);
      File file;
      file.run("PRAGMA page_size=" + std::to_string(page_size));
      file.run(std::string("PRAGMA auto_vacuum=") + vacuum);
      // Of no affinity, so that what is stored is what is read; a column behind the last that is read.
      file.run("CREATE TABLE t (x, a, y, b, c, z); BEGIN");
      for (int i = 0; i < 3000; ++i) {
        auto value = [&]() -> std::string {
          switch (random() % 6) {
            case 0:
              return "NULL";
            case 1:
              return std::to_string(static_cast<std::int64_t>(random()) >> (random() % 63 + 1));
            case 2:
              return std::to_string(static_cast<int>(random() % 3));
            case 3:
              return std::to_string(static_cast<double>(random() % 1000) / 7);
            case 4:
              return "'" + std::string(random() % 20, 'x') + "'";
            default:
              return "X'00ff'";
          }
        };
        // With gaps, also of negative row ids.
        file.run("INSERT INTO t(rowid,x,a,y,b,c,z) VALUES(" + std::to_string(i * 7 - 500) + "," +
                 value() + "," + value() + "," + value() + "," + value() + "," + value() + "," +
                 value() + ")");
      }
      file.run("DELETE FROM t WHERE rowid%5=0; COMMIT");
      Database db = Database::open_read_only(file.path);
      Read all = read(db);
      CHECK(!all.rest);
      CHECK(all.rows == expected(db));
      for (int i = 0; i < 50; ++i) {
        const auto first = static_cast<std::int64_t>(random() % 22000) - 700;
        const auto last = first + static_cast<std::int64_t>(random() % 3000);
        Read some = read(db, first, last);
        CHECK(!some.rest);
        CHECK(some.rows == expected(db, first, last));
      }
    }
  }
}

TEST_CASE("a row that is not of the common form is left to SQLite, with those behind it") {
  File file;
  file.run("PRAGMA page_size=1024; CREATE TABLE t (a, b)");
  file.run("INSERT INTO t VALUES(1,2),(3,4)");
  file.run("ALTER TABLE t ADD COLUMN c DEFAULT 9");
  Database old = Database::open_read_only(file.path);
  CHECK(read(old).rest == INT64_MIN);  // none was read: the records are short
  file.run("DELETE FROM t; INSERT INTO t VALUES(1,2,3),(4,5,6)");
  file.run("INSERT INTO t VALUES(7,8,'" + std::string(5000, 'y') + "'),(9,9,9)");
  Database db = Database::open_read_only(file.path);
  Read some = read(db);
  CHECK(some.rows == std::vector<std::string>{"1|1|2|3", "2|4|5|6"});
  CHECK(some.rest == 3);  // its text goes on in another page
  CHECK(!read(db, 4, 4).rest);
}

TEST_CASE("damaged pages end, and nothing is read beyond them") {
  File file;
  file.run("PRAGMA page_size=512; CREATE TABLE t (a, b, c)");
  file.run(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000) INSERT INTO t "
      "SELECT i, 'text', i/2.0 FROM n");
  std::ifstream in(file.path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const std::filesystem::path path = file.path.string() + ".damaged";
  std::mt19937_64 random(7);
  std::size_t read_to_the_end = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = whole;
    // Behind the schema, which SQLite checks itself. Heads of pages and of records are what leads astray.
    for (int i = 0; i < 20; ++i) {
      const std::size_t page = 1 + random() % (whole.size() / 512 - 1);
      damaged[page * 512 + random() % (round % 2 ? 512 : 16)] = static_cast<char>(random());
    }
    std::ofstream(path, std::ios::binary) << damaged;
    Database db = Database::open_read_only(path);
    std::size_t rows = 0;
    auto pages = TablePages::open(db, "t", Columns{"a", "b", "c"});
    REQUIRE(pages);
    const auto rest = pages->visit(INT64_MIN, INT64_MAX, &rows,
                                   [](void* client, std::int64_t, const Cell* cells) {
                                     for (int i = 0; i < 3; ++i) text_of(cells[i]);
                                     ++*static_cast<std::size_t*>(client);
                                     return true;
                                   });
    read_to_the_end += !rest;
  }
  CHECK(read_to_the_end < 2000);
}

TEST_CASE("a tree that comes back to its pages is left to SQLite") {
  File file;
  file.run("PRAGMA page_size=512; CREATE TABLE t (a, b, c)");
  file.run(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20000) INSERT INTO t "
      "SELECT i, 'text', i/2.0 FROM n");
  std::fstream out(file.path, std::ios::binary | std::ios::in | std::ios::out);
  out.seekg(512);
  std::string root(512, '\0');
  out.read(root.data(), 512);
  REQUIRE(root[0] == 5);  // an interior page
  // All its children are the last one, whose rows are not wanted: 2^20 times the same page, and more below.
  const auto count = static_cast<std::size_t>(static_cast<std::uint8_t>(root[4]));
  for (std::size_t i = 0; i < count; ++i) {
    const auto cell = static_cast<std::size_t>(static_cast<std::uint8_t>(root[12 + 2 * i]) << 8 |
                                               static_cast<std::uint8_t>(root[13 + 2 * i]));
    root.replace(cell, 4, root.substr(8, 4));
    for (int b = 0; b < 9; ++b)  // and each says that it has all rows there are
      if (cell + 4 + static_cast<std::size_t>(b) < 512)
        root[cell + 4 + static_cast<std::size_t>(b)] = b < 8 ? '\xbf' : '\xff';
  }
  out.seekp(512);
  out.write(root.data(), 512);
  out.close();
  Database db = Database::open_read_only(file.path);
  CHECK(read(db, INT64_MAX - 1).rest.has_value());
}

TEST_CASE("what a table's reader does not know, it does not read") {
  auto opens = [](File& file, const Columns& columns) {
    Database db = Database::open_read_only(file.path);
    return TablePages::open(db, "t", columns).has_value();
  };
  SUBCASE("a column that stands for the row id") {
    File file;
    file.run("CREATE TABLE t (id INTEGER PRIMARY KEY, a)");
    CHECK(!opens(file, {"id", "a"}));
    CHECK(opens(file, {"a"}));
    CHECK(!opens(file, {"a", "none"}));
  }
  SUBCASE("computed columns") {
    File file;
    file.run("CREATE TABLE t (a, b AS (a+1), c)");
    CHECK(!opens(file, {"a"}));
  }
  SUBCASE("UTF-16") {
    File file;
    file.run("PRAGMA encoding='UTF-16'; CREATE TABLE t (a)");
    CHECK(!opens(file, {"a"}));
  }
  SUBCASE("a log beside the file") {
    File file;
    file.run("PRAGMA journal_mode=WAL; CREATE TABLE t (a)");
    CHECK(!opens(file, {"a"}));
  }
  SUBCASE("views, and tables that are not there") {
    File file;
    file.run("CREATE TABLE u (a); CREATE VIEW t AS SELECT a FROM u");
    CHECK(!opens(file, {"a"}));
  }
}

TEST_CASE("nobody writes while pages are read, and afterwards they may") {
  File file;
  file.run("CREATE TABLE t (a); INSERT INTO t VALUES(1)");
  Database db = Database::open_read_only(file.path);
  auto write = [&] {
    sqlite3* other = nullptr;
    sqlite3_open(file.path.c_str(), &other);
    int code = sqlite3_exec(other, "INSERT INTO t VALUES(2)", nullptr, nullptr, nullptr);
    sqlite3_close(other);
    return code;
  };
  {
    auto pages = TablePages::open(db, "t", Columns{"a"});
    REQUIRE(pages);
    CHECK(write() == SQLITE_BUSY);
  }
  CHECK(write() == SQLITE_OK);
  CHECK(!db.in_transaction());
}

}  // namespace headway::trace::sqlite
