// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reference_trainer/comm/link_model.h"

namespace headway::trainer::sim {

/// The members of one simulated communicator and their collectives in order. The transfer of a
/// collective begins when the last member has arrived, and the collective ends for all members when
/// the transfer is done. Nothing depends on the order of threads. Thread safe.
///
/// Messages between two ranks have no order that all ranks share: a rank may wait for a message
/// that its peer sends only after receiving another one. So a waiting rank publishes the time up to
/// which its own state is known, which bounds what it can still send. It continues with other work
/// when the peer cannot arrive before that time (`meet`; conservative simulation with null
/// messages, Chandy and Misra 1979).
class SimGroup {
 public:
  /// State that ranks share when they pass messages.
  struct News {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::int64_t> clocks;  ///< by rank: nothing of it begins before this time any more
    std::string abandoned;
  };

  SimGroup(std::string name, std::vector<int> ranks, News* news = nullptr)
      : name_(std::move(name)), ranks_(std::move(ranks)), news_(news) {}

  const std::string& name() const { return name_; }
  int size() const { return static_cast<int>(ranks_.size()); }
  const std::vector<int>& ranks() const { return ranks_; }

  /// Arrival times of a complete collective.
  struct Arrivals {
    std::int64_t last = 0;  ///< ns of the virtual clock
    int last_rank = 0;      ///< the lowest of those that arrived last
  };
  /// Reports that `rank` is ready for collective `sequence` (0, 1, ...) at `time`. Every member
  /// calls it once.
  void arrive(std::uint64_t sequence, int rank, std::int64_t time);
  /// For a message: blocks until both ends have arrived, or until it is known that the message ends
  /// after `end`. In the latter case returns nothing and sets `end` to the earliest possible end.
  /// `transfer`: duration of the transfer, over 0. Throws as `wait` does.
  std::optional<Arrivals> meet(std::uint64_t sequence, int rank, std::int64_t transfer,
                               std::int64_t& end);
  bool passes_messages() const { return news_ != nullptr; }
  /// Blocks until all members have arrived; throws Error when the run was abandoned.
  Arrivals wait(std::uint64_t sequence);
  /// Ends all waiting, now and later, with an Error that contains `why`.
  void abandon(const std::string& why);

 private:
  /// A collective that some member has not read yet.
  struct Slot {
    Arrivals arrivals;
    int arrived = 0;  ///< members so far
    int read = 0;     ///< members that have read the arrivals
  };
  bool complete(std::uint64_t sequence);

  const std::string name_;
  const std::vector<int> ranks_;
  News* const news_;  ///< null: no messages
  std::mutex mutex_;
  std::condition_variable complete_;
  std::uint64_t first_ = 0;  ///< sequence number of slots_.front()
  std::deque<Slot> slots_;
  std::string abandoned_;
};

/// All communicators of a simulated run.
class SimWorld {
 public:
  SimWorld(int ranks, const LinkModel& links);

  int ranks() const { return ranks_; }
  const LinkModel& links() const { return links_; }
  SimGroup& world() { return *world_; }
  /// The same ranks, for exchanges of the layers that they share.
  SimGroup& model() { return *model_; }
  /// The ranks on the node of `rank`.
  SimGroup& node_of(int rank) {
    return *nodes_[static_cast<std::size_t>(rank / links_.ranks_per_node)];
  }
  /// The ranks with the same place on their nodes as `rank`.
  SimGroup& across(int rank) {
    return *across_[static_cast<std::size_t>(rank % links_.ranks_per_node)];
  }
  /// Messages that `from` sends to `to`.
  SimGroup& messages(int from, int to);
  /// See Communicator.
  std::int64_t stop_before(std::int64_t step);
  /// Reports that a rank failed: every waiting rank gets an Error that says so.
  void abandon(const std::string& why);

 private:
  const int ranks_;
  const LinkModel links_;
  std::atomic<std::int64_t> stop_before_ = std::numeric_limits<std::int64_t>::max();
  std::unique_ptr<SimGroup> world_;
  std::unique_ptr<SimGroup> model_;
  std::vector<std::unique_ptr<SimGroup>> nodes_;
  std::vector<std::unique_ptr<SimGroup>> across_;
  std::mutex mutex_;
  std::map<std::pair<int, int>, std::unique_ptr<SimGroup>> messages_;
  SimGroup::News news_;
};

}  // namespace headway::trainer::sim
