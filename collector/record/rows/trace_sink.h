// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "common/error.h"
#include "trace/save/writer.h"

namespace headway::record {

/// The trace file as the recorder writes it: committed every 20 000 rows or 200 ms, and a file that
/// cannot be written any more (a full disk) is not an error but a state, in which rows are counted
/// instead of stored. One thread.
class TraceSink {
 public:
  /// Throws as TraceWriter does.
  TraceSink(const std::filesystem::path& path, bool overwrite) : writer_(path, overwrite) {}

  /// The row's id; 0 when it was not stored.
  template <class Table>
  std::int64_t add(const typename Table::Row& row) {
    std::int64_t id = 0;
    guarded(1, [&] { id = writer_.add<Table>(row); });
    indexed_ += Table::indexes.size();
    return id;
  }
  /// Empties a table whose rows are written anew.
  template <class Table>
  void remove_all() {
    guarded(0, [&] { writer_.remove_all<Table>(); });
  }
  /// Id of the text in the trace; 0 when it could not be stored.
  trace::StringId intern(std::string_view text) {
    trace::StringId id{0};
    guarded(0, [&] { id = writer_.intern(text); });
    return id;
  }
  /// As TraceWriter::keep; `intern` everything of the row before, because it may flush.
  std::string_view keep(std::string_view text) {
    return failure_.empty() ? writer_.keep(text) : std::string_view();
  }
  /// Counted also when rows can no longer be stored.
  void count_loss(trace::Loss loss, std::int64_t count, std::int64_t global_pid = 0) {
    writer_.count_loss(loss, count, global_pid);
    counted_[loss] += count;
  }
  /// A setting that a process told; of several with one name the first, and no more than it takes to
  /// tell the user.
  void told_setting(std::string_view name, std::string_view value) {
    constexpr std::size_t kMostSettings = 1000;
    if (settings_.size() < kMostSettings) settings_.try_emplace(std::string(name), value);
  }
  const std::map<std::string, std::string>& settings() const { return settings_; }
  /// Secrets on command lines and in settings are stored as they are.
  void keep_arguments() { keep_arguments_ = true; }
  bool keeps_arguments() const { return keep_arguments_; }
  void set_meta(std::string_view key, std::string_view value) { writer_.set_meta(key, value); }

  /// What was added survives the death of the recorder from here on.
  void commit();
  /// Every 20 000 rows or 200 ms.
  void commit_if_due();
  /// Ends the file as well as it can be.
  void finish();

  /// Why rows are no longer stored; empty while they are.
  const std::string& failure() const { return failure_; }
  const std::filesystem::path& path() const { return writer_.path(); }

  /// About what the file will take once it is finished: what is committed, and the indexes.
  std::int64_t bytes() const;

  /// Losses counted so far, of all processes, for the closing summary.
  const std::map<trace::Loss, std::int64_t>& counted_losses() const { return counted_; }

 private:
  using Clock = std::chrono::steady_clock;

  template <class Body>
  void guarded(std::int64_t rows, Body body) {
    if (!failure_.empty()) {
      rows_lost_ += rows;
      return;
    }
    try {
      body();
      uncommitted_ += rows;
    } catch (const Error& error) {
      fail(error.what(), rows);
    }
  }
  void fail(const std::string& reason, std::int64_t rows);

  trace::TraceWriter writer_;
  std::map<trace::Loss, std::int64_t> counted_;
  std::map<std::string, std::string> settings_;
  std::string failure_;
  bool keep_arguments_ = false;
  std::int64_t uncommitted_ = 0;  ///< rows since the last commit
  std::int64_t rows_lost_ = 0;
  std::size_t indexed_ = 0;        ///< entries that the indexes will have
  std::int64_t stored_bytes_ = 0;  ///< at the last commit
  Clock::time_point last_commit_ = Clock::now();
};

}  // namespace headway::record
