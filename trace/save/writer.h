// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "trace/loss_counters.h"
#include "trace/schema/table.h"
#include "trace/sqlite/bulk_insert.h"
#include "trace/sqlite/database.h"

namespace headway::trace {

/// Writes a trace file; no other code does. Rows are typed (`add<tables::Kernel>({...})`), gathered
/// per table and inserted in bulk; tables are created when they get their first row. Committed rows
/// survive the death of this process; the file is valid SQLite at every moment. One thread at a time.
/// Times in rows are nanoseconds since `session start`.
class TraceWriter {
 public:
  enum class Indexes : std::uint8_t { kBuild, kSkip };

  /// Creates `path` (mode 0600). An existing regular file is an error unless `overwrite`; any other
  /// existing file always is.
  explicit TraceWriter(const std::filesystem::path& path, bool overwrite = false);
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  /// The id of `text` in StringIds; the text is made valid UTF-8. Amortised one hash look-up.
  StringId intern(std::string_view text);

  /// Queues a row; returns the rowid that it will have. Texts and blobs in the row are read at the next
  /// flush and must stay valid until then: use `keep`, literals, or data that lives longer.
  template <class Table>
  std::int64_t add(const typename Table::Row& row);

  /// Removes the rows of a table that have been added so far.
  template <class Table>
  void remove_all();

  /// Copies bytes; the copy lives until the next flush.
  std::string_view keep(std::string_view text);

  /// Adds to a loss counter; written by `commit`. `global_pid` 0: no particular process.
  void count_loss(Loss loss, std::int64_t count, std::int64_t global_pid = 0);
  /// Sets a HEADWAY_META value; written by `commit`, the last value wins.
  void set_meta(std::string_view key, std::string_view value);

  /// Commits everything added so far in one transaction. Committed rows survive the death of this process, not a power
  /// failure.
  void commit();
  /// Ends the recording: sets state=`state`, builds the indexes, merges the write-ahead log into the file.
  void finish(Indexes indexes = Indexes::kBuild, std::string_view state = "complete");
  /// To be called when `add` or `commit` threw because the file could not be written (a full disk):
  /// discards what is not committed. From here on only losses and meta data may be added, which need
  /// little room.
  void drop_uncommitted();

  /// Rows that are queued and not inserted yet.
  std::int64_t rows_pending() const { return pending_; }
  std::int64_t rows_written() const { return written_; }
  /// Size of the committed data, without the indexes that `finish` builds.
  std::int64_t stored_bytes() const;
  const std::filesystem::path& path() const { return database_.path(); }

 private:
  struct Batch {
    virtual ~Batch() = default;
    virtual std::size_t flush() = 0;
  };
  template <class Table>
  struct TypedBatch;

  template <class Table>
  TypedBatch<Table>& batch();
  void flush_all();
  void write_meta();
  void write_losses();

  static constexpr std::size_t kFlushRows = 4096;
  // Names that never repeat ("op, seq=1234567") must not use up the recorder's memory: after this many
  // texts the table of known texts is cleared, and a text may get a second id.
  static constexpr std::size_t kMaxKnownStrings = 1u << 20;

  sqlite::Database database_;
  std::map<std::string_view, std::unique_ptr<Batch>> batches_;  ///< by table
  std::deque<std::string> kept_;                                ///< by keep(), until the next flush
  std::deque<std::string> strings_;
  std::unordered_map<std::string_view, StringId> known_strings_;
  std::uint32_t next_string_ = 0;
  std::map<std::string, std::string, std::less<>> meta_;
  std::map<std::pair<Loss, std::int64_t>, std::int64_t> losses_;
  bool meta_changed_ = false;
  bool losses_changed_ = false;
  bool finished_ = false;
  std::int64_t pending_ = 0;
  std::int64_t written_ = 0;
};

template <class Table>
struct TraceWriter::TypedBatch final : TraceWriter::Batch {
  explicit TypedBatch(sqlite::Database& db) : insert(db, describe<Table>()) {
    rows.reserve(kFlushRows);
  }
  std::size_t flush() override {
    std::size_t count = rows.size();
    if (count) insert.insert(rows.data(), count, sizeof(typename Table::Row));
    rows.clear();
    return count;
  }
  sqlite::BulkInsert insert;
  std::vector<typename Table::Row> rows;
  std::int64_t next_row = 1;
};

template <class Table>
TraceWriter::TypedBatch<Table>& TraceWriter::batch() {
  auto& slot = batches_[Table::name];
  if (!slot) slot = std::make_unique<TypedBatch<Table>>(database_);
  return static_cast<TypedBatch<Table>&>(*slot);
}

template <class Table>
std::int64_t TraceWriter::add(const typename Table::Row& row) {
  TypedBatch<Table>& target = batch<Table>();
  target.rows.push_back(row);
  ++pending_;
  std::int64_t row_id = target.next_row++;
  if (target.rows.size() >= kFlushRows) flush_all();
  return row_id;
}

template <class Table>
void TraceWriter::remove_all() {
  std::vector<typename Table::Row>& rows = batch<Table>().rows;
  pending_ -= static_cast<std::int64_t>(rows.size());
  rows.clear();
  database_.execute("DELETE FROM " + std::string(Table::name));
}

}  // namespace headway::trace
