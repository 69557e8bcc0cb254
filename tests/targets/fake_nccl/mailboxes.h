// SPDX-License-Identifier: MIT
// Boxes in shared memory through which processes send each other bytes, one box for each pair and direction.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace fake_nccl {

class Mailboxes {
 public:
  /// The first rank that comes makes the memory of that name; it is gone when all have left.
  Mailboxes(const std::string& name, int ranks, int rank);
  ~Mailboxes();
  Mailboxes(const Mailboxes&) = delete;
  Mailboxes& operator=(const Mailboxes&) = delete;

  int ranks() const { return ranks_; }
  int rank() const { return rank_; }
  bool all_are_here() const;
  /// False when `give_up` became true meanwhile.
  bool send(int to, const void* data, std::size_t bytes, const std::atomic<bool>& give_up);
  bool receive(int from, void* data, std::size_t bytes, const std::atomic<bool>& give_up);

 private:
  static constexpr std::size_t kBoxBytes = 64 << 10;
  struct Box {
    std::atomic<std::uint32_t> full;
    std::byte data[kBoxBytes];
  };
  struct Header {
    std::atomic<std::uint32_t> here;
  };
  Box& box(int from, int to) const;

  const int ranks_;
  const int rank_;
  const std::size_t bytes_;
  void* memory_;
};

}  // namespace fake_nccl
