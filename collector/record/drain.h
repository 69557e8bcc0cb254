// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "collector/record/messages/messages.h"

namespace headway::record {

/// A segment that is being drained.
struct LiveSegment {
  SegmentId id = 0;
  std::unique_ptr<SegmentReader> reader;
  /// Set once nothing writes to it any more; the next round is its last.
  std::atomic<bool> ended = false;
};

/// Empties the rings of all segments into the queue, in rounds: every 2 ms while there is traffic,
/// slowing down to every 20 ms without, at once again when a ring is filling up. Apart from the
/// thread that writes the trace, so that a slow disk does not make rings overflow: up to kMaxQueued
/// bytes wait in memory.
class Drain {
 public:
  explicit Drain(MessageQueue& queue) : queue_(queue) {}

  /// Thread-safe.
  void add(std::shared_ptr<LiveSegment> segment);
  /// The receiver found the content damaged: no more rounds for this segment. Thread-safe.
  void set_aside(SegmentId id);
  /// Works until `finish`, then until everything that was committed by then is in the queue. Runs
  /// in a thread of its own.
  void run();
  /// Thread-safe. `scope_over`: processes go on that are still whole, so nothing is taken from
  /// under their CUPTI; what it has not handed over yet lies outside the scope.
  void finish(bool scope_over = false) {
    scope_over_ = scope_over;
    finishing_ = true;
  }

  static constexpr std::size_t kMaxQueued = 256u << 20;

 private:
  /// One round over all segments; bytes moved.
  std::size_t round(bool last);

  MessageQueue& queue_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<LiveSegment>> added_;
  std::vector<SegmentId> set_aside_;
  std::vector<std::shared_ptr<LiveSegment>> segments_;
  std::atomic<bool> finishing_ = false;
  std::atomic<bool> scope_over_ = false;
  double fullest_ = 0;  ///< 0..1, of the last round: decides when the next one comes
};

}  // namespace headway::record
