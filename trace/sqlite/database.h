// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace headway::trace::sqlite {

/// A prepared statement. Parameters are 1-based, columns 0-based, as in SQLite.
/// Values are always passed as parameters, never as text in the SQL.
class Statement {
 public:
  /// `where`: name of the file, for messages. Throws as step() does.
  Statement(sqlite3* db, std::string_view sql, const std::string& where);

  void bind(int parameter, std::int64_t value);
  /// The text is copied.
  void bind(int parameter, std::string_view value);
  /// Goes to the next row; true when there is one. Throws Error(kBadInput) for a corrupt file,
  /// kInternal otherwise.
  bool step();
  /// Makes the statement ready for other parameters; bound values stay bound.
  void reset();

  /// About the row that step() found; also the functions below.
  bool is_null(int column) const;
  bool is_number(int column) const;
  /// SQLite converts the value: 0 for NULL and for text that is not a number.
  std::int64_t int64(int column) const;
  double real(int column) const;
  /// Valid until the next step.
  std::string_view text(int column) const;
  std::string_view blob(int column) const;  ///< the bytes; valid until the next step
  sqlite3_stmt* handle() const { return statement_.get(); }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  sqlite3* db_;
  std::string where_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// A connection. Not shared between threads; open one per thread.
class Database {
 public:
  /// Creates a new file tuned for recording: 16 KiB pages, WAL, synchronous=OFF, mode 0600. `named`
  /// is the final name of the file, for messages.
  static Database create(const std::filesystem::path& path, const std::filesystem::path& named);
  static Database create(const std::filesystem::path& path) { return create(path, path); }
  /// Opens a file made by `create` for more writing.
  static Database open(const std::filesystem::path& path);
  /// Opens an existing file read-only. Throws Error(kBadInput) with a message for each case:
  /// missing, a folder, not readable, empty, not SQLite, truncated.
  static Database open_read_only(const std::filesystem::path& path);

  /// Runs statements without a result. Throws as Statement::step.
  void execute(const std::string& sql);
  Statement prepare(std::string_view sql) const;
  /// The single value of a query; 0 when there is no row.
  std::int64_t int64(std::string_view sql) const;

  /// True between BEGIN and COMMIT.
  bool in_transaction() const;
  /// Whether the file has this table with stored rows. Views and virtual tables do not count: their
  /// computation might not end.
  bool has_table(std::string_view table) const;
  /// Empty when has_table() is false.
  std::vector<std::string> columns_of(std::string_view table) const;

  /// Size of the main file; 0 when it is not known.
  std::int64_t file_bytes() const;

  sqlite3* handle() const { return db_.get(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  Database(sqlite3* db, std::filesystem::path path) : db_(db), path_(std::move(path)) {}
  void tune();

  std::unique_ptr<sqlite3, Close> db_;
  std::filesystem::path path_;
};

}  // namespace headway::trace::sqlite
