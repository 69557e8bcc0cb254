// SPDX-License-Identifier: MIT
#include "trace/save/writer.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "common/error.h"
#include "common/text.h"
#include "trace/meta_keys.h"
#include "trace/save/temporary_file.h"
#include "trace/tables/all.h"

namespace headway::trace {
namespace {

sqlite::Database create_file(const std::filesystem::path& path, bool overwrite) {
  check_replaceable(path, overwrite);
  // The file has another name until it is a trace, so a recorder that is killed here does not block
  // the name for the next one.
  const std::filesystem::path begun = name_beside(path, "new");
  try {
    {
      sqlite::Database database = sqlite::Database::create(begun, path);
      database.execute(create_table_sql(describe<tables::Meta>()));
      database.execute(fmt::format("INSERT INTO {} VALUES('{}', '{}'), ('{}', 'recording')",
                                   tables::Meta::name, meta::kSchemaVersionKey, kSchemaVersion,
                                   meta::kState));
    }
    if (overwrite) remove_with_companions(path);
    if (!rename_to_free(begun.string(), path.string())) {
      const int code = errno;
      check_replaceable(path, false);  // another program has made it since
      fail_internal("{}: cannot create: {}. Choose another place with -o.", path.string(),
                    system_error_text(code));
    }
    // The name belongs to this file from here on. Remove a log that a killed recorder left under the
    // name: SQLite would take it for the log of the new file.
    remove_companions(path);
    return sqlite::Database::open(path);
  } catch (...) {
    remove_with_companions(begun);
    throw;
  }
}

/// Merges the log into the file. This needs exclusive access for a moment, and a program that
/// follows the recording may be reading the file just then. If access is never free, the data stays
/// in the log, where every reader finds it.
void fold_log(sqlite::Database& database) {
  using namespace std::chrono;
  constexpr seconds kPatience{20};
  for (const auto begin = steady_clock::now();;) {
    try {
      database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
      database.execute("PRAGMA journal_mode=DELETE");
      return;
    } catch (const Error&) {
      if ((sqlite3_errcode(database.handle()) & 0xff) != SQLITE_BUSY) throw;
      if (steady_clock::now() - begin > kPatience) return;
    }
    std::this_thread::sleep_for(milliseconds(50));
  }
}

}  // namespace

TraceWriter::TraceWriter(const std::filesystem::path& path, bool overwrite)
    : database_(create_file(path, overwrite)) {
  database_.execute("BEGIN");
  HEADWAY_INVARIANT(intern("").value == 0);
  set_meta(meta::kSchemaVersionKey, std::to_string(kSchemaVersion));
  set_meta(meta::kState, "recording");
  commit();
}

TraceWriter::~TraceWriter() {
  if (finished_) return;
  // Reached on errors only: keep the rows so far; the file stays marked "recording".
  try {
    commit();
  } catch (const std::exception&) {  // the first error has been or will be reported
  }
}

StringId TraceWriter::intern(std::string_view text) {
  auto found = known_strings_.find(text);
  if (found != known_strings_.end()) return found->second;
  if (known_strings_.size() >= kMaxKnownStrings) {
    flush_all();
    known_strings_.clear();
    strings_.clear();
  }
  std::string valid = to_valid_utf8(text);
  if (valid != text) {
    // Stored under its valid form only: invalid names are rare, and the keys of the map must be
    // views into `strings_`.
    auto same = known_strings_.find(valid);
    if (same != known_strings_.end()) return same->second;
  }
  const std::string& stored = strings_.emplace_back(std::move(valid));
  StringId id{next_string_++};
  known_strings_.emplace(stored, id);
  add<tables::StringIds>({id.value, stored});
  return id;
}

std::string_view TraceWriter::keep(std::string_view text) {
  return kept_.emplace_back(text);
}

void TraceWriter::count_loss(Loss loss, std::int64_t count, std::int64_t global_pid) {
  if (count <= 0) return;
  losses_[{loss, global_pid}] += count;
  losses_changed_ = true;
}

void TraceWriter::set_meta(std::string_view key, std::string_view value) {
  meta_[std::string(key)] = to_valid_utf8(value);
  meta_changed_ = true;
}

void TraceWriter::flush_all() {
  for (auto& [name, batch] : batches_) written_ += static_cast<std::int64_t>(batch->flush());
  pending_ = 0;
  kept_.clear();
}

void TraceWriter::write_meta() {
  if (!meta_changed_) return;
  batch<tables::Meta>();  // creates the table
  database_.execute("DELETE FROM HEADWAY_META");
  for (const auto& [key, value] : meta_) add<tables::Meta>({key, value});
  meta_changed_ = false;
}

void TraceWriter::write_losses() {
  if (!losses_changed_) return;
  batch<tables::Loss>();
  database_.execute("DELETE FROM HEADWAY_LOSS");
  for (const auto& [key, count] : losses_) {
    const LossDeclaration& declaration = declaration_of(key.first);
    tables::Loss::Row row{declaration.name, severity_name(declaration.severity), count,
                          std::nullopt, declaration.text};
    if (key.second) row.global_pid = key.second;
    add<tables::Loss>(row);
  }
  losses_changed_ = false;
}

void TraceWriter::commit() {
  flush_all();
  write_meta();
  write_losses();
  flush_all();
  database_.execute("COMMIT");
  database_.execute("BEGIN");
}

std::int64_t TraceWriter::stored_bytes() const {
  return database_.int64("PRAGMA page_count") * database_.int64("PRAGMA page_size");
}

void TraceWriter::drop_uncommitted() {
  // After some errors SQLite has rolled back by itself, after others not.
  if (database_.in_transaction()) database_.execute("ROLLBACK");
  // Tables that were made in the lost transaction are made again when they get a row.
  batches_.clear();
  known_strings_.clear();
  strings_.clear();
  kept_.clear();
  pending_ = 0;
  meta_changed_ = true;
  losses_changed_ = !losses_.empty();
  database_.execute("BEGIN");
}

void TraceWriter::finish(Indexes indexes, std::string_view state) {
  set_meta(meta::kState, state);
  commit();
  database_.execute("COMMIT");
  finished_ = true;
  for_each_table([&]<class Table>() {
    if (indexes == Indexes::kSkip || !batches_.contains(Table::name)) return;
    for (std::string_view columns : Table::indexes) {
      database_.execute(fmt::format("CREATE INDEX {0}_{1} ON {0}({1})", Table::name, columns));
    }
  });
  batches_.clear();
  fold_log(database_);
}

}  // namespace headway::trace
