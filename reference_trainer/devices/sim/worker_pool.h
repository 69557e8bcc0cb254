// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <iterator>
#include <vector>

namespace headway::trainer::sim {

/// A part of a worker's time for a batch. Times in ns.
struct Leg {
  enum class Kind {
    kWait,         ///< waits `ns` without using a processor
    kCompute,      ///< uses a processor for `ns`
    kBeginToRead,  ///< waits for a place at the storage; transfers, of `ns`, take turns
    kEndReading,   ///< waits until the transfer is done, at least `ns`
  };
  Kind kind;
  std::int64_t ns;
};

/// A batch that was made.
struct MadeBatch {
  std::int64_t batch = -1;
  std::int32_t worker = -1;
  std::int64_t before = -1;        ///< the worker's previous batch; -1: none
  std::int64_t begin = 0;          ///< ns of the virtual clock; also for `ends`
  std::vector<std::int64_t> ends;  ///< end of each leg
};

/// A loader's workers on a virtual clock. Threads that compute at the same time get a processor
/// each, or equal shares of those that exist. The training thread is scheduled at once when it wakes
/// up and keeps its processor for a moment: it makes up for the share that it left to the workers
/// while it slept, but not for more than kCredit. Then it gets an equal share like them.
class WorkerPool {
 public:
  /// `places`: how many readers the storage serves at once; 0: any number. No workers: the training
  /// thread makes the batches.
  WorkerPool(int workers, int processors, int places);

  /// Restarts every worker at `begin`, or when it has made its batch, whichever is later. A restart
  /// takes `takes` ns.
  void start(std::int64_t begin, std::int64_t takes);
  /// Orders a batch. Workers begin batches in the order of these calls; the worker that is free
  /// first takes the next. `room`: time before which the batch cannot begin.
  void order(std::int64_t batch, std::int64_t room, std::vector<Leg> legs);
  /// Advances to `until`, while the training thread computes, or waits for the device, which takes a
  /// processor too.
  void run_beside_training(std::int64_t until);
  /// Advances to `begin` likewise, and on while the training thread computes what takes `work` ns on
  /// a processor of its own. Returns the time at which it is done.
  std::int64_t train(std::int64_t begin, std::int64_t work);
  /// Whether threads can ever wait for a processor.
  bool may_contend() const { return std::ssize(workers_) + 1 > processors_; }
  /// Advances until this batch, which must have been ordered, is made, while the training thread
  /// waits. Returns the time.
  std::int64_t run_until_made(std::int64_t batch);
  /// Returns the batches made since the last call, by their ends, and empties the list.
  std::vector<MadeBatch> take_made();

 private:
  struct Worker {
    double free_at = 0;  ///< ns
    bool busy = false;
    std::int64_t last = -1;  ///< batch that it made last; -1: none
  };
  struct Order {
    std::int64_t batch;
    std::int64_t room;  ///< ns; the batch cannot begin before
    std::vector<Leg> legs;
  };
  /// A batch that is being made.
  struct Task {
    MadeBatch made;
    std::vector<Leg> legs;
    bool under_way = false;  ///< the leg has begun; false: it waits for a place at the storage
    double left = 0;         ///< ns left of a leg that computes
    double until = 0;        ///< end of any other leg
    double transferred = 0;  ///< when its turn at the storage is over
  };

  Leg::Kind leg_of(const Task& task) const { return task.legs[task.made.ends.size()].kind; }
  /// Carries out everything that takes no time from now on.
  void settle();
  bool begin_orders();
  /// Begins and ends the task's current leg, if that takes no time. Returns whether something
  /// changed.
  bool step(Task& task);
  bool end_tasks();
  /// Advances to the next event, to `limit`, or until the training thread has computed `work` ns.
  /// Returns how much it has computed; without `training`, it sleeps.
  double advance(double limit, bool training, double work);
  /// The earliest time at which the next order can begin; kNever without one.
  double next_order() const;
  std::size_t first_free() const;

  const int processors_;
  const int places_;
  std::vector<Worker> workers_;
  std::deque<Order> orders_;
  std::vector<Task> tasks_;  ///< in the order of their begin
  std::vector<MadeBatch> made_;
  double now_ = 0;
  double credit_;             ///< ns that the training thread computes before it shares
  double transfer_free_ = 0;  ///< when the last transfer ends
  int reading_ = 0;           ///< tasks that have a place at the storage
};

}  // namespace headway::trainer::sim
