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
  /// Set when nothing writes to the segment any more; the next round is its last.
  std::atomic<bool> ended = false;
};

/// Empties the rings of all segments into the queue, in rounds: every 2 ms while there is traffic,
/// slowing down to every 20 ms without, and at once when a ring is filling up. It has its own
/// thread, apart from the one that writes the trace, so that a slow disk does not make rings
/// overflow: up to kMaxQueued bytes wait in memory.
class Drain {
 public:
  explicit Drain(MessageQueue& queue) : queue_(queue) {}

  /// Thread-safe.
  void add(std::shared_ptr<LiveSegment> segment);
  /// Ends the rounds of a segment whose content the receiver found damaged. Thread-safe.
  void set_aside(SegmentId id);
  /// Works until `finish`, then until everything that was committed by then is in the queue. To be
  /// run in a thread of its own.
  void run();
  /// Ends `run`. Thread-safe. `scope_over`: the processes run on, so slots that their CUPTI still
  /// holds are not taken; their records lie outside the scope.
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
  double fullest_ = 0;  ///< fill of the fullest ring in the last round, 0..1: times the next round
};

}  // namespace headway::record
