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

/// The members of one simulated communicator and the collectives that they carry out in order. A
/// collective ends for all when its transfer is done, which begins when the last member has arrived:
/// nothing here depends on which thread comes first. Thread safe.
///
/// Messages between two ranks come in no order that all ranks share: one rank may wait for a message that its peer sends only
/// after another one has come. So a rank that waits says up to when it knows its own time, which bounds what it can still
/// send, and goes on with other work when the other end cannot come before that (`meet`; conservative simulation with null
/// messages, Chandy and Misra 1979).
class SimGroup {
 public:
  /// What ranks that pass messages tell each other.
  struct News {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::int64_t> clocks;  ///< by rank: nothing of it begins before that any more
    std::string abandoned;
  };

  SimGroup(std::string name, std::vector<int> ranks, News* news = nullptr)
      : name_(std::move(name)), ranks_(std::move(ranks)), news_(news) {}

  const std::string& name() const { return name_; }
  int size() const { return static_cast<int>(ranks_.size()); }
  const std::vector<int>& ranks() const { return ranks_; }

  /// When a collective had all its members.
  struct Arrivals {
    std::int64_t last = 0;  ///< ns of the virtual clock
    int last_rank = 0;      ///< the lowest of those that arrived last
  };
  /// Says when `rank` is ready for collective `sequence` (0, 1, ...). Each member once each.
  void arrive(std::uint64_t sequence, int rank, std::int64_t time);
  /// Of a message: blocks until both ends have come, or until it is known that it ends after `end` only: then nothing, and
  /// `end` is the earliest that it can be. `transfer`: what it takes when both are there, over 0. Throws as `wait`.
  std::optional<Arrivals> meet(std::uint64_t sequence, int rank, std::int64_t transfer,
                               std::int64_t& end);
  bool passes_messages() const { return news_ != nullptr; }
  /// Blocks until all members have said so; throws Error when the run was abandoned.
  Arrivals wait(std::uint64_t sequence);
  /// Ends all waiting, now and later, with an Error that says why.
  void abandon(const std::string& why);

 private:
  /// A collective that some member has not read yet.
  struct Slot {
    Arrivals arrivals;
    int arrived = 0;  ///< members so far
    int read = 0;     ///< members that know when it was complete
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
  /// The same ranks, for what they exchange of the model's layers.
  SimGroup& model() { return *model_; }
  /// The ranks of the node that `rank` is on.
  SimGroup& node_of(int rank) {
    return *nodes_[static_cast<std::size_t>(rank / links_.ranks_per_node)];
  }
  /// The ranks with the same place on their nodes.
  SimGroup& across(int rank) {
    return *across_[static_cast<std::size_t>(rank % links_.ranks_per_node)];
  }
  /// Messages that `from` sends to `to`.
  SimGroup& messages(int from, int to);
  /// See Communicator.
  std::int64_t stop_before(std::int64_t step);
  /// A rank failed: every waiting rank gets an Error that says so.
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
