// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace headway::trainer {

/// Memory that the ranks of one host share, with what they need to meet in it. Made by the launcher
/// before it forks (`anonymous`), or under a name that all ranks know (`named`).
///
/// Ranks sleep on a futex while they wait, and look every 100 ms whether the others live: a rank that
/// dies, or says that it failed, ends the waiting of all.
class SharedMemory {
 public:
  /// Of one rank's part of the data area.
  static constexpr std::size_t kSlotBytes = std::size_t{1} << 20;

  static std::unique_ptr<SharedMemory> anonymous(int ranks);
  /// Rank 0 makes it, the others attach; waits for all until `timeout`, then the name is gone. Throws
  /// Error that names who is missing.
  static std::unique_ptr<SharedMemory> named(const std::string& name, int rank, int ranks,
                                             std::chrono::nanoseconds timeout);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  int ranks() const { return ranks_; }
  std::byte* slot(int rank) const { return data_ + static_cast<std::size_t>(rank) * kSlotBytes; }
  /// Says which process is this rank.
  void join(int rank);
  /// Says that the rank's process may end from here on.
  void leave(int rank);
  /// Waits until all of `members` ranks that share `meeting` have come. Throws Error (internal) when
  /// one has failed or died, or does not come within `timeout`.
  void meet(int rank, int meeting, int members, std::chrono::nanoseconds timeout);
  /// Throws Error (internal) when the run was abandoned, or a rank other than `rank` has died.
  void check(int rank) const;
  /// This run is over for all: "Rank 2 (process 123) was killed by signal 9".
  void abandon(const std::string& why);
  /// The earliest step that any rank has named.
  std::int64_t stop_before(std::int64_t step);
  /// Why; empty while nobody has abandoned it.
  std::string abandoned() const;

 private:
  struct Header;
  struct Meeting;
  SharedMemory(void* memory, std::size_t bytes, int ranks);
  static std::size_t bytes_for(int ranks);
  std::string missing(int rank) const;

  void* memory_;
  const std::size_t bytes_;
  const int ranks_;
  Header* header_;
  std::byte* data_;
};

}  // namespace headway::trainer
