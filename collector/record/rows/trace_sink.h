// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "common/error.h"
#include "trace/save/writer.h"

namespace headway::record {

/// The trace file as the recorder writes it, committed every 20 000 rows or 200 ms. A file that can
/// no longer be written (a full disk) is not an error but a state, in which rows are counted instead
/// of stored. One thread.
class TraceSink {
 public:
  /// Throws as TraceWriter does.
  TraceSink(const std::filesystem::path& path, bool overwrite) : writer_(path, overwrite) {}

  /// Stores a row. Returns its id; 0 when it was not stored.
  template <class Table>
  std::int64_t add(const typename Table::Row& row) {
    std::int64_t id = 0;
    guarded(1, [&] { id = writer_.add<Table>(row); });
    indexed_ += Table::indexes.size();
    return id;
  }
  /// Empties a table whose rows are written again.
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
  /// As TraceWriter::keep. Call `intern` for all texts of the row before, because it may flush.
  std::string_view keep(std::string_view text) {
    return failure_.empty() ? writer_.keep(text) : std::string_view();
  }
  /// Counts a loss, also when rows can no longer be stored.
  void count_loss(trace::Loss loss, std::int64_t count, std::int64_t global_pid = 0) {
    writer_.count_loss(loss, count, global_pid);
    counted_[loss] += count;
  }
  /// Keeps a setting that a process reported, for the closing summary: the first value of each name,
  /// at most kMostSettings names.
  void told_setting(std::string_view name, std::string_view value) {
    constexpr std::size_t kMostSettings = 1000;
    if (settings_.size() < kMostSettings) settings_.try_emplace(std::string(name), value);
  }
  const std::map<std::string, std::string>& settings() const { return settings_; }
  /// From here on secrets on command lines and in settings are stored unmasked.
  void keep_arguments() { keep_arguments_ = true; }
  bool keeps_arguments() const { return keep_arguments_; }
  void set_meta(std::string_view key, std::string_view value) { writer_.set_meta(key, value); }

  /// Commits: the rows added so far survive the death of the recorder.
  void commit();
  /// Commits after every 20 000 rows or 200 ms.
  void commit_if_due();
  /// Completes the file as far as possible.
  void finish();

  /// Why rows are no longer stored; empty while they are stored.
  const std::string& failure() const { return failure_; }
  const std::filesystem::path& path() const { return writer_.path(); }

  /// Approximate size of the finished file: the committed bytes and the indexes.
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
  std::size_t indexed_ = 0;        ///< number of entries that the indexes will have
  std::int64_t stored_bytes_ = 0;  ///< at the last commit
  Clock::time_point last_commit_ = Clock::now();
};

}  // namespace headway::record
