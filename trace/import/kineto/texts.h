// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headway::trace::kineto {

/// Texts of one part of the file, each stored once, unchanged (with escapes). Id 0 is "".
class Texts {
 public:
  Texts();
  /// The id of the text, the same for equal texts; costs one look-up in a hash table.
  std::uint32_t add(std::string_view text);
  std::string_view operator[](std::uint32_t id) const {
    return std::string_view(storage_).substr(entries_[id].offset, entries_[id].length);
  }
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::size_t offset;
    std::size_t length;
    std::uint64_t hash;
  };
  void grow();

  std::string storage_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  ///< id + 1, open addressing; 0 is free
  std::uint32_t last_ = 0;            ///< the last id: a name often comes many times in a row
};

}  // namespace headway::trace::kineto
