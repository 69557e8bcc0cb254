// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/sim/sim_world.h"

#include <algorithm>
#include <numeric>

#include "common/error.h"

namespace headway::trainer::sim {

void SimGroup::arrive(std::uint64_t sequence, int rank, std::int64_t time) {
  bool all = false;
  {
    std::scoped_lock lock(mutex_);
    while (sequence - first_ >= slots_.size()) slots_.emplace_back();
    Slot& slot = slots_[sequence - first_];
    const bool later = time > slot.arrivals.last;
    const bool tie = time == slot.arrivals.last && rank < slot.arrivals.last_rank;
    if (slot.arrived == 0 || later || tie) slot.arrivals = {time, rank};
    all = ++slot.arrived == size();
  }
  if (all) complete_.notify_all();
  if (!all || !news_) return;
  const std::scoped_lock lock(news_->mutex);
  news_->changed.notify_all();
}

bool SimGroup::complete(std::uint64_t sequence) {
  const std::scoped_lock lock(mutex_);
  return slots_[sequence - first_].arrived == size();
}

std::optional<SimGroup::Arrivals> SimGroup::meet(std::uint64_t sequence, int rank,
                                                 std::int64_t transfer, std::int64_t& end) {
  const auto self = static_cast<std::size_t>(rank);
  const auto other = static_cast<std::size_t>(ranks_[0] == rank ? ranks_[1] : ranks_[0]);
  {
    std::unique_lock lock(news_->mutex);
    news_->clocks[self] = std::max(news_->clocks[self], end);
    news_->changed.notify_all();
    while (!complete(sequence)) {
      if (!news_->abandoned.empty()) throw Error(ExitCode::kInternal, news_->abandoned);
      if (const std::int64_t bound = news_->clocks[other] + transfer; bound > end) {
        end = bound;
        return std::nullopt;
      }
      news_->changed.wait(lock);
    }
  }
  return wait(sequence);
}

SimGroup::Arrivals SimGroup::wait(std::uint64_t sequence) {
  std::unique_lock lock(mutex_);
  complete_.wait(
      lock, [&] { return !abandoned_.empty() || slots_[sequence - first_].arrived == size(); });
  if (slots_[sequence - first_].arrived != size()) throw Error(ExitCode::kInternal, abandoned_);
  Slot& slot = slots_[sequence - first_];
  const Arrivals arrivals = slot.arrivals;
  ++slot.read;
  while (!slots_.empty() && slots_.front().read == size()) {
    slots_.pop_front();
    ++first_;
  }
  return arrivals;
}

void SimGroup::abandon(const std::string& why) {
  {
    std::scoped_lock lock(mutex_);
    if (abandoned_.empty()) abandoned_ = why;
  }
  complete_.notify_all();
}

SimWorld::SimWorld(int ranks, const LinkModel& links) : ranks_(ranks), links_(links) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  world_ = std::make_unique<SimGroup>("world", all);
  model_ = std::make_unique<SimGroup>("model", all);
  const int per_node = links.ranks_per_node;
  for (int first = 0; first < ranks; first += per_node) {
    std::vector<int> members;
    for (int rank = first; rank < std::min(first + per_node, ranks); ++rank)
      members.push_back(rank);
    nodes_.push_back(std::make_unique<SimGroup>(fmt::format("node {}", first / per_node), members));
  }
  news_.clocks.resize(static_cast<std::size_t>(ranks));
  for (int place = 0; place < std::min(per_node, ranks); ++place) {
    std::vector<int> members;
    for (int rank = place; rank < ranks; rank += per_node) members.push_back(rank);
    across_.push_back(std::make_unique<SimGroup>(fmt::format("across {}", place), members));
  }
}

SimGroup& SimWorld::messages(int from, int to) {
  const std::scoped_lock lock(mutex_);
  auto& group = messages_[{from, to}];
  if (!group)
    group = std::make_unique<SimGroup>(fmt::format("stages {} to {}", from, to),
                                       std::vector{from, to}, &news_);
  return *group;
}

std::int64_t SimWorld::stop_before(std::int64_t step) {
  std::int64_t least = stop_before_;
  while (step < least && !stop_before_.compare_exchange_weak(least, step)) {
  }
  return std::min(least, step);
}

void SimWorld::abandon(const std::string& why) {
  world_->abandon(why);
  model_->abandon(why);
  for (const auto& group : nodes_) group->abandon(why);
  for (const auto& group : across_) group->abandon(why);
  const std::scoped_lock lock(news_.mutex);
  if (news_.abandoned.empty()) news_.abandoned = why;
  news_.changed.notify_all();
}

}  // namespace headway::trainer::sim
