// SPDX-License-Identifier: MIT
// Streams, events and graphs of the fake driver. Work runs when it is queued; with FAKE_CUDA_LAZY=1, only when something
// waits for it, and no earlier than that needs: who forgets to wait finds old data. Calls are made under the driver's lock.
#pragma once

#include <cuda.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace emulator {

struct Kernel;
using Work = std::function<void()>;

struct Stream;
/// A place in a stream's work: `position` pieces have been queued before it.
struct Point {
  Stream* stream = nullptr;
  std::uint64_t position = 0;
};
struct Event {
  Point point;
  std::chrono::steady_clock::time_point time;
};

struct KernelLaunch {
  const Kernel* kernel;
  unsigned grid[3];
  unsigned threads;
  std::string parameters;  ///< a copy
};
/// A node is a launch, or any other work.
struct Node {
  KernelLaunch launch;
  Work other;
  const Node* made_from = nullptr;  ///< in an executable graph
};
struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
};

struct Stream {
  struct Piece {
    Work work;
    Point wait;             ///< instead of work
    bool for_host = false;  ///< a function of the program's: runs without the driver's lock
  };
  std::deque<Piece> queue;
  std::uint64_t queued = 0;
  std::uint64_t done = 0;
  Graph* capture = nullptr;
  bool busy = false;  ///< some thread is in a function of the program's
};

/// The driver's lock: every call holds it, once.
extern std::recursive_mutex g_mutex;

bool lazy();
/// Some stream is being captured: calls that wait are refused.
bool capturing();
/// A null stream is the old default one, whose work runs at once.
void queue_work(Stream* stream, Work work);
/// The same for a function that may wait for other threads.
void queue_host_function(Stream* stream, Work work);
void queue_launch(Stream* stream, KernelLaunch launch);
void queue_wait(Stream* stream, const Point& point);
Point end_of(Stream* stream);
bool passed(const Point& point);
void run_until(const Point& point);
/// The oldest piece of work, unless it could wait for other threads.
void run_some(Stream& stream);
void run_all();

Stream* make_stream();
void drop_stream(Stream* stream);

}  // namespace emulator
