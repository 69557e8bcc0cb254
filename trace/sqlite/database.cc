// SPDX-License-Identifier: MIT
#include "trace/sqlite/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "common/error.h"
#include "trace/file_head.h"

namespace headway::trace::sqlite {
namespace {

[[noreturn]] void fail(sqlite3* db, int code, const std::string& where, std::string_view doing) {
  const char* text = db ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      fail_input(
          "{}: the SQLite file is corrupt ({}) while {}. Save what is readable with: sqlite3 '{}' "
          ".recover | sqlite3 "
          "saved.sqlite",
          where, text, doing, where);
    case SQLITE_FULL:
      fail_internal("{}: the disk is full while {}. Free space, or write to another place with -o.",
                    where, doing);
    case SQLITE_CANTOPEN:
      fail_internal("{}: the system refuses to open it or a file beside it ({}) while {}.", where,
                    db ? system_error_text(sqlite3_system_errno(db)) : text, doing);
    case SQLITE_IOERR:
      fail_internal("{}: input/output error ({}) while {}.", where, text, doing);
    case SQLITE_ERROR:
    case SQLITE_TOOBIG:
    case SQLITE_NOMEM:  // SQLite gives it for some damaged schemas even when there is enough memory
      // Our statements fit the tables that Headway and Nsight Systems make, so the file is at fault.
      if (db && sqlite3_db_readonly(db, "main") == 1)
        fail_input(
            "{}: its tables are damaged or differ from a trace (SQLite says '{}' while {}). Export "
            "or record again, and check the file with: sqlite3 '{}' 'PRAGMA integrity_check'",
            where, text, doing, where);
      [[fallthrough]];
    default:
      fail_internal("{}: SQLite says '{}' while {}.", where, text, doing);
  }
}

/// Rejects a file for which SQLite's own message would not help the user.
void check_file(const std::filesystem::path& path) {
  std::string name = path.string();
  std::string header = read_head(path, 100);
  if (!header.starts_with(std::string_view("SQLite format 3\0", 16))) {
    fail_input(
        "{}: is not a trace: expected an SQLite file (Headway or Nsight Systems export), but it "
        "does not begin with "
        "'SQLite format 3'.",
        name);
  }
  auto big_endian = [&](std::size_t at, int bytes) {
    std::int64_t value = 0;
    for (int i = 0; i < bytes; ++i)
      value = value << 8 | static_cast<unsigned char>(header[at + static_cast<std::size_t>(i)]);
    return value;
  };
  if (header.size() < 100)
    fail_input("{}: is truncated: {} bytes, less than the 100 bytes of an SQLite header.", name,
               header.size());
  std::int64_t page_size = big_endian(16, 2) == 1 ? 65536 : big_endian(16, 2);
  std::int64_t expected = page_size * big_endian(28, 4);
  // The page count in the header is valid only if its change counter is (SQLite file
  // format, 1.3.8), and a write-ahead log beside the file may hold the missing pages.
  bool counter_valid = big_endian(24, 4) == big_endian(92, 4);
  bool has_wal = ::access((name + "-wal").c_str(), F_OK) == 0;
  std::int64_t size = static_cast<std::int64_t>(std::filesystem::file_size(path));
  if (counter_valid && !has_wal && size < expected) {
    fail_input(
        "{}: is truncated: {} bytes, but its header says {}. Was it copied during writing, or did "
        "the disk fill up? Copy it again; recover the rest with: sqlite3 '{}' .recover | sqlite3 "
        "saved.sqlite",
        name, size, expected, name);
  }
}

/// Reads the schema: SQLITE_OK when the file is readable and no log of a writer prevents reading.
int try_reading(sqlite3* db) {
  return sqlite3_exec(db, "SELECT 1 FROM sqlite_master", nullptr, nullptr, nullptr);
}

sqlite3* open_handle(const std::string& name, int flags, int& code) {
  sqlite3* db = nullptr;
  code = sqlite3_open_v2(name.c_str(), &db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                         nullptr);
  return db;
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Statement::Statement(sqlite3* db, std::string_view sql, const std::string& where)
    : db_(db), where_(where) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v3(db, sql.data(), static_cast<int>(sql.size()),
                                SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) fail(db, code, where_, "preparing a statement");
  statement_.reset(statement);
}

void Statement::bind(int parameter, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), parameter, value);
}

void Statement::bind(int parameter, std::string_view value) {
  sqlite3_bind_text64(statement_.get(), parameter, value.data(), value.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
}

bool Statement::step() {
  int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  fail(db_, code, where_, "reading or writing rows");
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}
bool Statement::is_number(int column) const {
  const int type = sqlite3_column_type(statement_.get(), column);
  return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}
std::int64_t Statement::int64(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
double Statement::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}
std::string_view Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (!data) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::string_view Statement::blob(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  if (!data) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

void Database::Close::operator()(sqlite3* db) const {
  sqlite3_close_v2(db);
}

void Database::tune() {
  // WAL + synchronous=OFF survives the death of the recorder (journal_mode=OFF did not); only a
  // power failure can lose the last transactions.
  execute("PRAGMA synchronous=OFF");
  execute("PRAGMA wal_autocheckpoint=4000");
}

Database Database::open(const std::filesystem::path& path) {
  int code = 0;
  sqlite3* db = open_handle(path.string(), SQLITE_OPEN_READWRITE, code);
  Database result(db, path);
  if (code != SQLITE_OK) fail(db, code, path.string(), "opening it");
  result.tune();
  return result;
}

Database Database::create(const std::filesystem::path& path, const std::filesystem::path& named) {
  std::string name = named.string();
  // The file is created here with mode 0600, so that no other user can ever read it; SQLite gives the
  // -wal and -shm files the mode of the main file.
  int fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) {
    int code_of_system = errno;
    if (code_of_system == EEXIST)
      fail_usage("{}: already exists. Use --force to overwrite it, or -o for another name.", name);
    fail_internal("{}: cannot create: {}. Choose another place with -o.", name,
                  system_error_text(code_of_system));
  }
  ::close(fd);
  int code = 0;
  sqlite3* db = open_handle(path.string(), SQLITE_OPEN_READWRITE, code);
  Database result(db, named);
  if (code != SQLITE_OK) fail(db, code, name, "creating the file");
  result.execute("PRAGMA page_size=16384");
  result.execute("PRAGMA journal_mode=WAL");
  result.tune();
  return result;
}

Database Database::open_read_only(const std::filesystem::path& path) {
  check_file(path);
  std::string name = path.string();
  int code = 0;
  sqlite3* db = open_handle(name, SQLITE_OPEN_READONLY, code);
  if (code == SQLITE_OK) code = try_reading(db);
  if (code == SQLITE_READONLY_ROLLBACK) {
    // A writer was killed inside a transaction (a recorder while it merges its log). Rolling it back
    // needs write access.
    sqlite3_close_v2(db);
    db = open_handle(name, SQLITE_OPEN_READWRITE, code);
    if (code == SQLITE_OK) code = try_reading(db);
    if (code == SQLITE_OK) {
      sqlite3_close_v2(db);
      db = open_handle(name, SQLITE_OPEN_READONLY, code);
      if (code == SQLITE_OK) code = try_reading(db);
    }
  }
  if ((code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY) {
    // There is a log in a folder without write access: read the main file without its log.
    sqlite3_close_v2(db);
    std::string uri = "file:";
    for (char c : name)
      uri += c == '?' || c == '#' || c == '%' ? fmt::format("%{:02x}", c) : std::string(1, c);
    db = open_handle(uri + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, code);
  }
  Database result(db, path);
  if (code != SQLITE_OK) fail(db, code, name, "opening it");
  result.execute("PRAGMA mmap_size=17179869184");
  result.execute("PRAGMA trusted_schema=OFF");
  return result;
}

void Database::execute(const std::string& sql) {
  int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK)
    fail(db_.get(), code, path_.string(),
         fmt::format("running '{}'", sql.substr(0, std::min<std::size_t>(60, sql.find('\n')))));
}

Statement Database::prepare(std::string_view sql) const {
  return {db_.get(), sql, path_.string()};
}

std::int64_t Database::int64(std::string_view sql) const {
  Statement statement = prepare(sql);
  return statement.step() ? statement.int64(0) : 0;
}

std::int64_t Database::file_bytes() const {
  std::error_code error;
  auto size = std::filesystem::file_size(path_, error);
  return error ? 0 : static_cast<std::int64_t>(size);
}

bool Database::in_transaction() const {
  return sqlite3_get_autocommit(db_.get()) == 0;
}

bool Database::has_table(std::string_view table) const {
  Statement statement =
      prepare("SELECT 1 FROM sqlite_master WHERE type='table' AND rootpage>0 AND name=?1");
  statement.bind(1, table);
  return statement.step();
}

std::vector<std::string> Database::columns_of(std::string_view table) const {
  std::vector<std::string> names;
  if (!has_table(table)) return names;
  Statement statement = prepare("SELECT name FROM pragma_table_info(?1)");
  statement.bind(1, table);
  while (statement.step()) names.emplace_back(statement.text(0));
  return names;
}

}  // namespace headway::trace::sqlite
