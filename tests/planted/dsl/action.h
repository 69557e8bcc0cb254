// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/planted/dsl/recording.h"
#include "tests/planted/dsl/statement.h"

namespace headway::planted {

/// One thing that a thread does; programs are unrolled into these. What it needs beyond `kind` and
/// `host` depends on the kind.
struct Action {
  enum class Kind {
    kBeginRange,
    kEndRange,
    kMark,
    kHost,        ///< computes for `host`
    kInput,       ///< takes the next batch
    kLaunch,      ///< enqueues `op`; blocks until it is done when `blocking`
    kInGraph,     ///< another op of the graph launched last
    kRecord,      ///< records event `name` on `stream`
    kAwait,       ///< lets `stream` wait for event `name`
    kSyncStream,  ///< blocks
    kSyncDevice,
    kSyncEvent,
    kCall,         ///< a call that enqueues nothing
    kOverhead,     ///< `host` taken by CUDA or the profiler
    kBatchIssued,  ///< a worker waits until it may begin batch `batch`
    kBatchReady,
  };
  Kind kind = Kind::kHost;
  const Statement* source = nullptr;
  int thread = 0;
  DurationNs host;
  std::string name;
  Recording::Range range;
  Recording::Op op;
  DurationNs device;       ///< duration of `op`
  DurationNs latency{-1};  ///< of the launch; negative: the device's
  int stream = -1;
  trace::DeviceCallKind call = trace::DeviceCallKind::kOther;
  bool blocking = false;
  bool visible = true;  ///< false: leaves no row
  DurationNs wake;      ///< from the end of what was waited for to the end of the call
  trace::Overhead::Kind overhead = trace::Overhead::Kind::kOther;
  DurationNs overhead_time;  ///< of a launch: within the call
  std::int64_t batch = -1;
  bool is_collective = false;
  Recording::Collective collective;
};

/// Reproducible variation.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2654435761u + 1) {}
  /// In [0, 1).
  double next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(state_ >> 40) / static_cast<double>(1 << 24);
  }
  /// `value` give or take `share`.
  DurationNs vary(DurationNs value, double share) {
    double factor = 1 + share * (2 * next() - 1);
    return {static_cast<std::int64_t>(static_cast<double>(value.ns) * factor)};
  }

 private:
  std::uint64_t state_;
};

/// A thread's program, ready to run.
struct Program {
  int rank = 0;
  TimeNs start;
  std::vector<Action> actions;
};

}  // namespace headway::planted
