// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace headway::inject {

/// Finds definitions in the log by their content: an open-addressing table in anonymous memory of
/// its own (no malloc: the program may have replaced it). Private to the process, inherited by
/// fork. Not thread-safe.
class DefinitionIndex {
 public:
  struct Entry {
    std::uint64_t hash;    ///< of the content, by hash_of()
    std::uint64_t id;      ///< by which records refer to the definition
    std::uint32_t offset;  ///< in the log
    std::uint32_t bytes;   ///< 0: free
  };

  /// The entry with this hash for which `same(entry)` holds; null when there is none.
  template <class Same>
  const Entry* find(std::uint64_t hash, Same same) const {
    if (capacity_ == 0) return nullptr;
    for (std::size_t i = hash & (capacity_ - 1);; i = (i + 1) & (capacity_ - 1)) {
      const Entry& entry = entries_[i];
      if (entry.bytes == 0) return nullptr;
      if (entry.hash == hash && same(entry)) return &entry;
    }
  }
  /// False when there is no memory for it.
  bool add(const Entry& entry);

 private:
  bool grow();
  Entry* entries_ = nullptr;
  std::size_t capacity_ = 0;  ///< a power of two, at most half full
  std::size_t size_ = 0;
};

}  // namespace headway::inject
