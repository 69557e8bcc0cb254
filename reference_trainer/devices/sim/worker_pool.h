// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace headway::trainer::sim {

/// A part of what a worker does for a batch. Times in ns.
struct Leg {
  enum class Kind {
    kWait,     ///< for `ns`, on no processor
    kCompute,  ///< `ns` of a processor
    kBeginToRead,  ///< waits for a place at the storage, whose transfers take turns: this one's takes `ns`
    kEndReading,  ///< lasts until the transfer is done, `ns` at least
  };
  Kind kind;
  std::int64_t ns;
};

/// A batch that was made.
struct MadeBatch {
  std::int64_t batch = -1;
  std::int32_t worker = -1;
  std::int64_t before = -1;        ///< the worker's batch before; -1: none
  std::int64_t begin = 0;          ///< ns of the virtual clock; likewise `ends`
  std::vector<std::int64_t> ends;  ///< of each leg
};

/// A loader's workers on a virtual clock. Threads that compute at one time get a processor each, or equal parts of those there
/// are. The training thread gets one whenever it computes: it sleeps often, and is served at once when it wakes up.
class WorkerPool {
 public:
  /// `places` at the storage; 0: as many as there are readers. No workers: the training thread makes the batches.
  WorkerPool(int workers, int processors, int places);

  /// Every worker starts anew at `begin`, or when it has made its batch, which takes so long. All from then on.
  void start(std::int64_t begin, std::int64_t takes);
  /// Batches are begun in the order of these calls, by who is free first. `room`: not before.
  void order(std::int64_t batch, std::int64_t room, std::vector<Leg> legs);
  /// Until that time; the training thread computes meanwhile.
  void run_beside_training(std::int64_t until);
  /// Until this batch is made, which was ordered before; the training thread waits for it. The time by then.
  std::int64_t run_until_made(std::int64_t batch);
  /// Those made since, by their ends; empties the list.
  std::vector<MadeBatch> take_made();

 private:
  struct Worker {
    double free_at = 0;  ///< ns
    bool busy = false;
    std::int64_t last = -1;  ///< batch that it made last; -1: none
  };
  struct Order {
    std::int64_t batch;
    std::int64_t room;  ///< not begun before; ns
    std::vector<Leg> legs;
  };
  /// A batch that is being made.
  struct Task {
    MadeBatch made;
    std::vector<Leg> legs;
    bool under_way = false;  ///< the leg; not so: it waits for a place at the storage
    double left = 0;         ///< of a leg that computes
    double until = 0;        ///< of another one
    double transferred = 0;  ///< when its turn at the storage is over
  };

  Leg::Kind leg_of(const Task& task) const { return task.legs[task.made.ends.size()].kind; }
  /// All that takes no time from now on.
  void settle();
  bool begin_orders();
  /// Begins the leg and ends it, as far as that takes no time. True where something changed.
  bool step(Task& task);
  bool end_tasks();
  /// Up to the next event, or `limit`.
  void advance(double limit, bool training);
  /// When the next order can begin, at the earliest; never without one.
  double next_order() const;
  std::size_t first_free() const;

  const int processors_;
  const int places_;
  std::vector<Worker> workers_;
  std::deque<Order> orders_;
  std::vector<Task> tasks_;  ///< by their begin
  std::vector<MadeBatch> made_;
  double now_ = 0;
  double transfer_free_ = 0;  ///< since when no transfer is due
  int reading_ = 0;           ///< tasks that have a place at the storage
};

}  // namespace headway::trainer::sim
