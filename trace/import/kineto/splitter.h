// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "trace/import/source/source.h"

namespace headway::trace::kineto {

/// Bytes with room behind them. Unlike std::string it does not clear the memory that is read into.
class Buffer {
 public:
  char* data() { return data_.get(); }
  std::string_view view() const { return {data_.get(), size_}; }
  std::size_t size() const { return size_; }
  void clear() { size_ = 0; }
  /// Appends a copy of the text; kPadding bytes behind it stay writable.
  void append(std::string_view text);
  /// At least `more` bytes (and kPadding) may be written at data() + size().
  void reserve_more(std::size_t more);
  void set_size(std::size_t size) { size_ = size; }

 private:
  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// A part of the events array that begins and ends between records. text[0] is the array's bracket
/// or a comma, which the reader may replace by its own bracket.
struct Block {
  std::size_t index = 0;
  std::int64_t offset = 0;  ///< of text[0] in the (uncompressed) file
  Buffer text;              ///< kPadding readable bytes follow
  bool last = false;        ///< the file's last block; also contains what follows the array
};

/// Cuts the events array into blocks, for several threads.
class Splitter {
 public:
  /// `first`: text that was read already, from the array's bracket on; `offset` is its offset.
  /// `careful`: find the ends of records by following the text, instead of guessing and checking
  /// later.
  Splitter(import_detail::Source& source, std::string first, std::int64_t offset, bool careful,
           std::string file_name);

  /// Gives the next block; false when nothing is left. Thread-safe.
  bool next(Block& block);
  /// The share of the file that has been read, 0 to 1; may be called from any thread.
  double fraction() const { return fraction_.load(std::memory_order_relaxed); }

 private:
  std::size_t boundary(std::string_view text, std::size_t searched) const;

  import_detail::Source& source_;
  std::mutex mutex_;
  std::string carry_;  ///< text behind the last boundary: begins the next block
  std::int64_t offset_;
  bool careful_;
  std::string file_name_;
  std::size_t next_index_ = 0;
  bool ended_ = false;
  std::atomic<double> fraction_ = 0;
};

}  // namespace headway::trace::kineto
