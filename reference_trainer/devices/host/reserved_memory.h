// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace headway::trainer {

/// A reserved range of addresses. Its pages are got from the operating system and returned in
/// pieces, as malloc and free do with large blocks, while the addresses stay the same, for code
/// that keeps pointers.
class ReservedMemory {
 public:
  ReservedMemory() = default;
  /// Until they are first given back, pages are allocated when touched. Throws Error when the range
  /// cannot be reserved.
  explicit ReservedMemory(std::int64_t bytes);
  ReservedMemory(ReservedMemory&& other) noexcept;
  ReservedMemory& operator=(ReservedMemory&& other) noexcept;
  ~ReservedMemory();

  std::byte* begin() const { return begin_; }
  std::int64_t bytes() const { return bytes_; }

  /// The size of whole pages that hold `bytes` bytes; pieces begin at multiples of it.
  static std::int64_t in_pages(std::int64_t bytes);
  /// Gets all pages of a piece, zeroed; returns false when the operating system has none left.
  static bool get(void* piece, std::int64_t bytes);
  /// Returns the pages of a piece. Touching it afterwards ends the program.
  static void give_back(void* piece, std::int64_t bytes);

 private:
  std::byte* begin_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace headway::trainer
