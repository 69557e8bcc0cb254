// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/sim/worker_pool.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "common/error.h"

namespace headway::trainer::sim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// A remainder of a leg, in nanoseconds, that is only a rounding error.
constexpr double kNothing = 1e-3;
/// What a thread that slept computes, in ns, beyond its share before it has to share. Measured on
/// Linux 6.18 with two processors: 0.4 ms, the median of -0.04 to 1.1 (tests/bench/processor_share.py).
constexpr double kCredit = 0.5e6;

}  // namespace

WorkerPool::WorkerPool(int workers, int processors, int places)
    : processors_(std::max(1, processors)),
      places_(places),
      workers_(static_cast<std::size_t>(std::max(1, workers))),
      // On a single processor, no other thread would run meanwhile.
      credit_(processors_ > 1 ? kCredit : 0) {}

void WorkerPool::start(std::int64_t begin, std::int64_t takes) {
  for (Worker& worker : workers_)
    worker.free_at =
        std::max(worker.free_at, static_cast<double>(begin)) + static_cast<double>(takes);
}

void WorkerPool::order(std::int64_t batch, std::int64_t room, std::vector<Leg> legs) {
  orders_.push_back({batch, room, std::move(legs)});
}

std::vector<MadeBatch> WorkerPool::take_made() {
  return std::exchange(made_, {});
}

void WorkerPool::run_beside_training(std::int64_t until) {
  while (now_ < static_cast<double>(until)) advance(static_cast<double>(until), true, kNever);
}

std::int64_t WorkerPool::train(std::int64_t begin, std::int64_t work) {
  run_beside_training(begin);
  for (auto left = static_cast<double>(work); left > kNothing && now_ + left > now_;)
    left -= advance(kNever, true, left);
  return std::max<std::int64_t>(begin, std::llround(now_));
}

std::int64_t WorkerPool::run_until_made(std::int64_t batch) {
  auto is_due = [&] {
    return std::ranges::any_of(orders_, [&](const Order& one) { return one.batch == batch; }) ||
           std::ranges::any_of(tasks_, [&](const Task& one) { return one.made.batch == batch; });
  };
  while (is_due()) advance(kNever, false, kNever);
  return std::llround(now_);
}

std::size_t WorkerPool::first_free() const {
  std::size_t first = workers_.size();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (workers_[i].busy) continue;
    if (first == workers_.size() || workers_[i].free_at < workers_[first].free_at) first = i;
  }
  return first;
}

double WorkerPool::next_order() const {
  const std::size_t free = first_free();
  if (orders_.empty() || free == workers_.size()) return kNever;
  return std::max(static_cast<double>(orders_.front().room), workers_[free].free_at);
}

bool WorkerPool::begin_orders() {
  bool any = false;
  for (; next_order() <= now_; any = true) {
    const std::size_t free = first_free();
    Worker& worker = workers_[free];
    worker.busy = true;
    Order& order = orders_.front();
    Task task;
    task.made = {order.batch, static_cast<std::int32_t>(free), worker.last, std::llround(now_), {}};
    task.legs = std::move(order.legs);
    orders_.pop_front();
    tasks_.push_back(std::move(task));
  }
  return any;
}

bool WorkerPool::step(Task& task) {
  if (task.made.ends.size() == task.legs.size()) return false;
  const Leg& leg = task.legs[task.made.ends.size()];
  const auto length = static_cast<double>(leg.ns);
  bool over = false;
  if (leg.kind == Leg::Kind::kBeginToRead) {
    if (places_ > 0 && reading_ == places_) return false;
    ++reading_;
    task.transferred = now_;
    if (leg.ns > 0) task.transferred = transfer_free_ = std::max(now_, transfer_free_) + length;
    over = true;
  } else if (!task.under_way) {
    task.under_way = true;
    task.left = length;
    task.until = now_ + length;
    if (leg.kind == Leg::Kind::kEndReading) task.until = std::max(task.until, task.transferred);
  }
  if (leg.kind == Leg::Kind::kCompute) {
    over = task.left <= kNothing || now_ + task.left == now_;
  } else if (leg.kind != Leg::Kind::kBeginToRead) {
    over = task.until <= now_;
  }
  if (!over) return false;
  if (leg.kind == Leg::Kind::kEndReading) --reading_;
  task.made.ends.push_back(std::llround(now_));
  task.under_way = false;
  return true;
}

bool WorkerPool::end_tasks() {
  return std::erase_if(tasks_, [&](Task& task) {
           if (task.made.ends.size() < task.legs.size()) return false;
           Worker& worker = workers_[static_cast<std::size_t>(task.made.worker)];
           worker = {now_, false, task.made.batch};
           made_.push_back(std::move(task.made));
           return true;
         }) > 0;
}

void WorkerPool::settle() {
  for (bool changed = true; changed;) {
    changed = begin_orders();
    for (Task& task : tasks_)
      while (step(task)) changed = true;
    changed = end_tasks() || changed;
  }
}

double WorkerPool::advance(double limit, bool training, double work) {
  settle();
  double computing = 0;
  for (const Task& task : tasks_)
    computing += task.under_way && leg_of(task) == Leg::Kind::kCompute;
  const double all = processors_;
  const double fair = std::min(1.0, all / (computing + 1));
  const bool ahead = credit_ > kNothing && now_ + credit_ > now_;
  const double own = !training ? 0 : ahead ? 1 : fair;
  const double rate = std::min(1.0, (all - own) / std::max(1.0, computing));
  double next = std::min(limit, next_order());
  if (training) next = std::min(next, now_ + work / own);
  if (own > fair) next = std::min(next, now_ + credit_ / (own - fair));
  for (const Task& task : tasks_) {
    if (!task.under_way) continue;
    next =
        std::min(next, leg_of(task) == Leg::Kind::kCompute ? now_ + task.left / rate : task.until);
  }
  HEADWAY_INVARIANT(next < kNever);
  const double passed = next - now_;
  for (Task& task : tasks_) task.left -= rate * passed;
  if (all > 1) credit_ = std::clamp(credit_ + (fair - own) * passed, 0.0, kCredit);
  now_ = next;
  settle();
  return own * passed;
}

}  // namespace headway::trainer::sim
