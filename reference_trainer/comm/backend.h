// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "reference_trainer/comm/link_model.h"

namespace headway::trainer {

/// Moves bytes between the ranks of a run; shared memory and MPI each implement it. All calls
/// block, must be made in the same order on every rank of the scope, and throw Error (internal)
/// within the run's timeout when another rank has died or does not arrive. One thread at a time.
/// Messages (`send`, `receive`) are the exception.
class CommBackend {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~CommBackend() = default;
  virtual std::string_view name() const = 0;  ///< "shm", "mpi"
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Reports that this rank has failed: the other ranks stop waiting for it as soon as they notice,
  /// with an Error that contains `why`. May be called from any thread.
  virtual void abandon(const std::string& why) = 0;
  /// Throws Error (internal) when another rank is known to have failed or died. Does not wait. May
  /// be called from any thread.
  virtual void check_others() = 0;
  /// See Communicator. A backend whose ranks cannot tell each other a step has its own way.
  virtual std::int64_t stop_before(std::int64_t step) = 0;
  /// Waits for all ranks.
  virtual void barrier() = 0;
  /// In place: the sum over the ranks of the scope, the same bits on each of them.
  virtual void all_reduce(Scope scope, std::span<float> values) = 0;
  /// The same for IEEE half precision; sums are rounded to it.
  virtual void all_reduce_half(Scope scope, std::span<std::uint16_t> values) = 0;
  /// In place: `all` has a part of the same size for each rank, in rank order; this rank has filled
  /// its own part.
  virtual void all_gather(std::span<std::byte> all) = 0;
  /// In place: `parts` has a part of the same size for each rank, in rank order. Afterwards it
  /// holds one part from each rank.
  virtual void all_to_all(std::span<std::byte> parts) = 0;
  /// In place: afterwards the part at this rank's place in the scope (`part_of`) holds the sum; the
  /// rest is unspecified.
  virtual void reduce_scatter(Scope scope, std::span<float> values) = 0;
  /// In place: every rank's part (as after reduce_scatter) reaches all ranks of the scope.
  virtual void all_gather_parts(Scope scope, std::span<float> values) = 0;
  /// The same two operations for IEEE half precision; sums are rounded to it.
  virtual void reduce_scatter_half(Scope scope, std::span<std::uint16_t> values) = 0;
  virtual void all_gather_parts_half(Scope scope, std::span<std::uint16_t> values) = 0;
  /// In place, through rank 0, which receives from each rank and sends to each rank in turn.
  virtual void reduce_through_server(std::span<float> values) = 0;

  /// The two ends of a message between two ranks. Both block until the other end has come and the
  /// bytes have moved, and return the time at which both had come. The n-th `send` to a rank meets
  /// the n-th `receive` there. Other ranks take no part, so their order of messages is free. One
  /// thread may send to a rank while others send to other ranks, receive, or wait for a collective.
  /// Throw Error (internal) that names the other rank when it does not come within the run's
  /// timeout, has died, or expects another number of bytes.
  virtual Clock::time_point send(int to, std::span<const std::byte> bytes) = 0;
  virtual Clock::time_point receive(int from, std::span<std::byte> bytes) = 0;
};

/// Throws Error (internal): the ends of a message disagree about its size.
[[noreturn]] void fail_size(int rank, int from, std::uint64_t sent, std::uint64_t expected);

/// The half-open range of `count` elements that place `index` of `places` owns.
struct Part {
  std::size_t begin = 0;
  std::size_t end = 0;
};
constexpr Part part_of(std::size_t count, int index, int places) {
  const auto n = static_cast<std::size_t>(places);
  const auto i = static_cast<std::size_t>(index);
  return {count * i / n, count * (i + 1) / n};
}

}  // namespace headway::trainer
