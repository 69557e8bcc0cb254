// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <fstream>
#include <sstream>

#include "common/error.h"
#include "tests/support/trace_builder.h"
#include "trace/load/load.h"

namespace headway::trace {
namespace {

void write_file(const std::filesystem::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary)
      .write(content.data(), static_cast<std::streamsize>(content.size()));
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The message of loading `path`, which must fail as bad input and name the file.
std::string error_of(const std::filesystem::path& path) {
  try {
    load(path);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::kBadInput);
    std::string text = error.what();
    CHECK(text.find(path.filename().string()) != std::string::npos);
    return text;
  }
  return "(no error)";
}

void run_sql(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  REQUIRE(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(db);
}

}  // namespace

TEST_CASE("each kind of wrong file gets its own words") {
  test::TemporaryFolder folder;
  CHECK(error_of(folder / "missing.sqlite").find("No such file") != std::string::npos);
  CHECK(error_of(folder.path()).find("is a folder") != std::string::npos);
  write_file(folder / "empty.sqlite", "");
  CHECK(error_of(folder / "empty.sqlite").find("is empty") != std::string::npos);
  write_file(folder / "notes.txt", "epoch 1 loss 0.5\n");
  CHECK(error_of(folder / "notes.txt").find("is not a trace") != std::string::npos);
  run_sql(folder / "other.sqlite", "CREATE TABLE recipes(name TEXT)");
  CHECK(error_of(folder / "other.sqlite").find("not a trace") != std::string::npos);
}

TEST_CASE("a newer schema is refused with both versions") {
  test::TraceBuilder builder;
  auto path = builder.save();
  run_sql(path, "UPDATE HEADWAY_META SET value='99' WHERE name='schema_version'");
  std::string text = error_of(path);
  CHECK(text.find("99") != std::string::npos);
  CHECK(text.find("up to 1") != std::string::npos);
  CHECK(text.find("newer") != std::string::npos);
}

TEST_CASE("a truncated trace is refused at every length, and never crashes") {
  test::TraceBuilder builder;
  for (int i = 0; i < 2000; ++i) builder.range(1, "range " + std::to_string(i), i * 10, i * 10 + 5);
  std::string whole = read_file(builder.save());
  test::TemporaryFolder folder;
  auto path = folder / "cut.sqlite";
  for (std::size_t length = 1; length < whole.size(); length += 1 + whole.size() / 97) {
    CAPTURE(length);
    write_file(path, std::string_view(whole).substr(0, length));
    CHECK(error_of(path) != "(no error)");
  }
  write_file(path, std::string_view(whole).substr(0, whole.size() / 2));
  CHECK(error_of(path).find("truncated") != std::string::npos);
}

TEST_CASE("damaged bytes give an error or a trace, never a crash") {
  test::TraceBuilder builder;
  for (int i = 0; i < 2000; ++i)
    builder.launch(1, i * 10, i * 10 + 2, i * 10 + 3, i * 10 + 9,
                   {.name = "k" + std::to_string(i % 50)});
  std::string whole = read_file(builder.save());
  test::TemporaryFolder folder;
  auto path = folder / "damaged.sqlite";
  int readable = 0;
  for (std::size_t at = 100; at < whole.size(); at += 1 + whole.size() / 61) {
    CAPTURE(at);
    std::string damaged = whole;
    for (std::size_t i = at; i < std::min(at + 64, damaged.size()); ++i)
      damaged[i] = static_cast<char>(0xa5 ^ i);
    write_file(path, damaged);
    try {
      load(path);
      ++readable;
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::kBadInput);
    }
  }
  CHECK(readable > 0);
}

TEST_CASE("values of the wrong type in a foreign file do not stop the reader") {
  test::TemporaryFolder folder;
  auto path = folder / "foreign.sqlite";
  run_sql(path,
          "CREATE TABLE StringIds(id, value); INSERT INTO StringIds VALUES('x', NULL), (3, 7), "
          "(-1, 'a'), (9223372036854775807, 'b');"
          "CREATE TABLE NVTX_EVENTS(start, end, eventType, textId);"
          "INSERT INTO NVTX_EVENTS VALUES('now', 'later', 59, 'three'), (1, 2, 59, 3), (5, NULL, "
          "59, 400), (NULL, NULL, NULL, NULL);");
  Trace trace = load(path);
  CHECK(trace.ranges.size() >= 2);
}

}  // namespace headway::trace
