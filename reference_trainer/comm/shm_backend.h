// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "reference_trainer/comm/backend.h"
#include "reference_trainer/comm/shared_memory.h"

namespace headway::trainer {

/// Exchanges between ranks of one host through shared memory: each rank copies a piece into its
/// slot, adds up its own part of all slots, and copies the other ranks' parts. Messages go through
/// the channel of their two ranks.
class ShmBackend final : public CommBackend {
 public:
  /// `message_piece`: bytes of a message that are on their way at once, 1 to
  /// SharedMemory::kChannelBytes; the same on all ranks.
  ShmBackend(std::shared_ptr<SharedMemory> shared, int rank, int ranks_per_node,
             std::chrono::nanoseconds timeout,
             std::size_t message_piece = SharedMemory::kChannelBytes);
  /// Leaves the shared memory, so that the end of this process does not count as its death.
  ~ShmBackend() override { shared_->leave(rank_); }
  ShmBackend(const ShmBackend&) = delete;
  ShmBackend& operator=(const ShmBackend&) = delete;

  std::string_view name() const override { return "shm"; }
  int rank() const override { return rank_; }
  int size() const override { return shared_->ranks(); }
  void abandon(const std::string& why) override { shared_->abandon(why); }
  void check_others() override { shared_->check(rank_); }
  std::int64_t stop_before(std::int64_t step) override { return shared_->stop_before(step); }
  void barrier() override;
  void all_reduce(Scope scope, std::span<float> values) override;
  void all_reduce_half(Scope scope, std::span<std::uint16_t> values) override;
  void all_gather(std::span<std::byte> all) override;
  void all_to_all(std::span<std::byte> parts) override;
  void reduce_scatter(Scope scope, std::span<float> values) override;
  void all_gather_parts(Scope scope, std::span<float> values) override;
  void reduce_scatter_half(Scope scope, std::span<std::uint16_t> values) override;
  void all_gather_parts_half(Scope scope, std::span<std::uint16_t> values) override;
  void reduce_through_server(std::span<float> values) override;
  Clock::time_point send(int to, std::span<const std::byte> bytes) override {
    return shared_->send(rank_, to, bytes, message_piece_, timeout_);
  }
  Clock::time_point receive(int from, std::span<std::byte> bytes) override {
    return shared_->receive(rank_, from, bytes, message_piece_, timeout_);
  }

 private:
  struct Members {
    int meeting = 0;         ///< number of a meeting of SharedMemory
    int place = 0;           ///< of this rank among the members
    std::vector<int> ranks;  ///< in order
  };
  Members members(Scope scope) const;
  void meet(const Members& members);
  template <class T>
  void reduce(const Members& members, std::span<T> values, bool share_parts);
  template <class T>
  void scatter_sums(Scope scope, std::span<T> values);
  template <class T>
  void gather_parts(Scope scope, std::span<T> values);

  const std::shared_ptr<SharedMemory> shared_;
  const int rank_;
  const int per_node_;
  const std::chrono::nanoseconds timeout_;
  const std::size_t message_piece_;
};

}  // namespace headway::trainer
