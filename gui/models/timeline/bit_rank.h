// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace headway::gui {

/// A set of small numbers that counts its members below any number: two bits per number. Each query
/// is O(1), except `next` and `previous`, which skip 64 numbers at a time.
class BitRank {
 public:
  explicit BitRank(std::size_t size = 0) : size_(size), words_(size / 64 + 1) {}

  void set(std::size_t i) { words_[i / 64].bits |= std::uint64_t{1} << (i % 64); }
  /// Call after the last `set` and before the first `rank`.
  void finish() {
    std::uint32_t before = 0;
    for (Word& word : words_) {
      word.before = before;
      before += static_cast<std::uint32_t>(std::popcount(word.bits));
    }
    count_ = before;
  }

  std::size_t size() const { return size_; }
  std::size_t count() const { return count_; }
  bool test(std::size_t i) const { return words_[i / 64].bits >> (i % 64) & 1; }
  /// The number of members below `i`, at most `size()`.
  std::size_t rank(std::size_t i) const {
    const Word& word = words_[i / 64];
    std::uint64_t below = word.bits & ((std::uint64_t{1} << (i % 64)) - 1);
    return word.before + static_cast<std::size_t>(std::popcount(below));
  }
  /// The smallest member that is at least `i`.
  std::optional<std::size_t> next(std::size_t i) const {
    if (i >= size_) return std::nullopt;
    std::size_t w = i / 64;
    std::uint64_t bits = words_[w].bits & (~std::uint64_t{0} << (i % 64));
    while (bits == 0) {
      if (++w == words_.size()) return std::nullopt;
      bits = words_[w].bits;
    }
    return w * 64 + static_cast<std::size_t>(std::countr_zero(bits));
  }
  /// The largest member that is less than `i`.
  std::optional<std::size_t> previous(std::size_t i) const {
    if (size_ == 0) return std::nullopt;
    i = i < size_ ? i : size_;
    std::size_t w = i / 64;
    std::uint64_t bits = words_[w].bits & ((std::uint64_t{1} << (i % 64)) - 1);
    while (bits == 0) {
      if (w-- == 0) return std::nullopt;
      bits = words_[w].bits;
    }
    return w * 64 + 63 - static_cast<std::size_t>(std::countl_zero(bits));
  }

 private:
  struct Word {
    std::uint64_t bits = 0;
    std::uint32_t before = 0;
  };
  std::size_t size_;
  std::size_t count_ = 0;
  std::vector<Word> words_;
};

}  // namespace headway::gui
