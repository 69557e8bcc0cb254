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
  const int per_node = links.ranks_per_node;
  for (int first = 0; first < ranks; first += per_node) {
    std::vector<int> members;
    for (int rank = first; rank < std::min(first + per_node, ranks); ++rank)
      members.push_back(rank);
    nodes_.push_back(std::make_unique<SimGroup>(fmt::format("node {}", first / per_node), members));
  }
  for (int place = 0; place < std::min(per_node, ranks); ++place) {
    std::vector<int> members;
    for (int rank = place; rank < ranks; rank += per_node) members.push_back(rank);
    across_.push_back(std::make_unique<SimGroup>(fmt::format("across {}", place), members));
  }
}

std::int64_t SimWorld::stop_before(std::int64_t step) {
  std::int64_t least = stop_before_;
  while (step < least && !stop_before_.compare_exchange_weak(least, step)) {
  }
  return std::min(least, step);
}

void SimWorld::abandon(const std::string& why) {
  world_->abandon(why);
  for (const auto& group : nodes_) group->abandon(why);
  for (const auto& group : across_) group->abandon(why);
}

}  // namespace headway::trainer::sim
