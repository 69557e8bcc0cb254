// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace headway::trainer {

/// A range of addresses whose pages are got from the operating system and given back in pieces, while the addresses stay:
/// as malloc and free do with large blocks, for code that keeps pointers.
class ReservedMemory {
 public:
  ReservedMemory() = default;
  /// Pages come as they are touched until they are given back for the first time. Throws Error when there are not so
  /// many addresses.
  explicit ReservedMemory(std::int64_t bytes);
  ReservedMemory(ReservedMemory&& other) noexcept;
  ReservedMemory& operator=(ReservedMemory&& other) noexcept;
  ~ReservedMemory();

  std::byte* begin() const { return begin_; }
  std::int64_t bytes() const { return bytes_; }

  /// Whole pages that hold so many bytes; pieces begin at multiples of it.
  static std::int64_t in_pages(std::int64_t bytes);
  /// All pages of a piece, zeroed; false when the operating system has none left.
  static bool get(void* piece, std::int64_t bytes);
  /// Who touches the piece from now on ends the program.
  static void give_back(void* piece, std::int64_t bytes);

 private:
  std::byte* begin_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace headway::trainer
