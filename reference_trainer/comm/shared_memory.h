// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace headway::trainer {

/// Memory that the ranks of one host share, with the state that they need to meet. The launcher
/// makes it before it forks (`anonymous`), or it has a name that all ranks know (`named`).
///
/// Waiting ranks sleep on a futex and check every 100 ms whether the others live. When a rank dies,
/// or reports that it failed, all waiting ends.
class SharedMemory {
 public:
  using Clock = std::chrono::steady_clock;
  /// Size of one rank's slot in the data area.
  static constexpr std::size_t kSlotBytes = std::size_t{1} << 20;
  /// Size of the buffer through which one rank sends to one other rank.
  static constexpr std::size_t kChannelBytes = std::size_t{1} << 18;

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
  /// The ends of a message from `rank` to `to`, and from `from` to `rank` (CommBackend::send and
  /// receive). The bytes pass through the channel of the two ranks in pieces of `piece` bytes, which
  /// both ends give alike, at most kChannelBytes.
  Clock::time_point send(int rank, int to, std::span<const std::byte> bytes, std::size_t piece,
                         std::chrono::nanoseconds timeout);
  Clock::time_point receive(int rank, int from, std::span<std::byte> bytes, std::size_t piece,
                            std::chrono::nanoseconds timeout);
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
  struct Channel;
  SharedMemory(void* memory, std::size_t bytes, int ranks);
  static std::size_t bytes_for(int ranks);
  static std::size_t data_bytes(int ranks);
  std::string missing(int rank) const;
  Channel& channel(int from, int to) const;
  std::byte* channel_data(int from, int to) const;
  /// Sleeps until `word` differs from `seen`. Throws Error as `meet` does; `who` says which ranks
  /// have not come: "1 of 3 ranks have not come".
  void await_change(int rank, const std::atomic<std::uint32_t>& word, std::uint32_t seen,
                    Clock::time_point deadline, std::chrono::nanoseconds timeout,
                    const std::function<std::string()>& who) const;

  void* memory_;
  const std::size_t bytes_;
  const int ranks_;
  Header* header_;
  std::byte* channels_;
  std::byte* data_;
};

}  // namespace headway::trainer
