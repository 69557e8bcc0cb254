// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace headway::trainer {

/// Memory that the ranks of one host share, with the state that they need to meet. The launcher
/// makes it before it forks (`anonymous`), or it has a name that all ranks know (`named`).
///
/// Waiting ranks sleep on a futex and check every 100 ms whether the others live. When a rank dies,
/// or reports that it failed, all waiting ends.
class SharedMemory {
 public:
  /// Size of one rank's slot in the data area.
  static constexpr std::size_t kSlotBytes = std::size_t{1} << 20;

  static std::unique_ptr<SharedMemory> anonymous(int ranks);
  /// Rank 0 makes it, the others attach. Waits for all ranks until `timeout`; the name is then
  /// removed. Throws Error that names the missing ranks.
  static std::unique_ptr<SharedMemory> named(const std::string& name, int rank, int ranks,
                                             std::chrono::nanoseconds timeout);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  int ranks() const { return ranks_; }
  std::byte* slot(int rank) const { return data_ + static_cast<std::size_t>(rank) * kSlotBytes; }
  /// Registers this process as rank `rank`.
  void join(int rank);
  /// From here on, the end of this rank's process is no failure.
  void leave(int rank);
  /// Waits until all of the `members` ranks that share `meeting` have arrived. Throws Error
  /// (internal) when one has failed or died, or does not arrive within `timeout`.
  void meet(int rank, int meeting, int members, std::chrono::nanoseconds timeout);
  /// Throws Error (internal) when the run was abandoned, or a rank other than `rank` has died.
  void check(int rank) const;
  /// Ends this run for all ranks. Example of `why`: "Rank 2 (process 123) was killed by signal 9".
  void abandon(const std::string& why);
  /// Proposes `step`, see Communicator; returns the earliest step that any rank has proposed.
  std::int64_t stop_before(std::int64_t step);
  /// The reason for which the run was abandoned; empty while it was not.
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
