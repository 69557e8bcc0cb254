// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "collector/record/environment/launched_rank.h"
#include "collector/record/messages/clock.h"
#include "collector/record/messages/segment_reader.h"

/// Messages from the recorder's threads to the thread that writes the trace.
namespace headway::record {

/// Identifies the segment of one process image: a pid has several images when it calls exec.
using SegmentId = std::uint64_t;

/// A process of the recorded tree was seen; sent again when it is known better (its image changed).
struct ProcessSeen {
  std::int32_t pid = 0;
  std::int32_t parent_pid = 0;
  std::int64_t start_monotonic_ns = 0;  ///< CLOCK_MONOTONIC, in steps of 10 ms
  std::string name;                     ///< of the program, without its folder
  std::string command_line;             ///< arguments, separated by zero bytes
  Launched launched;                    ///< what its launcher told it
  bool without_session = false;         ///< see ProcessDescription
};

/// A process has ended. Exactly one of code and signal is set, or neither when the status is
/// unknown.
struct ProcessEnded {
  std::int32_t pid = 0;
  std::int64_t monotonic_ns = 0;
  std::optional<int> exit_code;  ///< 0..255
  std::optional<int> signal;     ///< the signal that killed it
};

/// A process has handed over its segment.
struct SegmentAdded {
  SegmentId segment = 0;
  std::int32_t pid = 0;
};

/// A process asked to be recorded and cannot be.
struct ProcessRefused {
  std::int32_t pid = 0;
  std::string reason;
};

/// A process asked to be recorded and lies outside the scope.
struct ProcessLeftOut {
  std::int32_t pid = 0;
};

/// What a round of draining took from one segment. `anchor` was read after the snapshot, so no stamp
/// in the data is newer.
struct SegmentRound {
  SegmentId segment = 0;
  ClockReading anchor;
  SegmentData data;
  SegmentCounters counters;  ///< totals since the segment's beginning
  bool damaged = false;      ///< the memory contradicts its layout; this round is its last
  bool last = false;         ///< the process image is gone, or the recording ends
};

/// A value of a sampled series. `name` etc. live as long as the sampler.
struct Sample {
  std::string_view name;
  std::string_view unit;
  std::string_view description;
  std::int32_t pid = 0;  ///< 0: the machine
  double value = 0;
  std::string_view gpu = {};  ///< UUID; empty: not about a GPU
};
/// What was sampled at one moment.
struct Samples {
  std::int64_t monotonic_ns = 0;  ///< when they were taken
  std::int64_t since_ns = 0;      ///< time of the previous samples; for the first, monotonic_ns
  std::vector<Sample> samples;
};

/// A reading of the clocks, sent once a second.
struct ClockTick {
  ClockReading reading;
};

using Message = std::variant<ProcessSeen, ProcessEnded, SegmentAdded, ProcessRefused,
                             ProcessLeftOut, SegmentRound, Samples, ClockTick>;

/// A queue with many senders and one receiver, in order. It has no limit: the sender of large
/// messages (the drain) checks `bytes` first. Thread-safe.
class MessageQueue {
 public:
  /// `bytes`: size of the message's payload, for bytes(). Never waits.
  void send(Message message, std::size_t bytes = 0) {
    {
      std::lock_guard lock(mutex_);
      if (abandoned_) return;
      messages_.push_back({std::move(message), bytes});
      bytes_ += bytes;
    }
    arrived_.notify_one();
  }
  /// To be called when nothing more will be sent.
  void close() {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
    }
    arrived_.notify_one();
  }
  /// To be called when nothing more will be received: later messages are dropped, so that no sender
  /// waits for room.
  void abandon() {
    std::lock_guard lock(mutex_);
    abandoned_ = true;
    messages_.clear();
    bytes_ = 0;
  }
  /// The next message; nullopt when none came within the time. `done` is set when the queue is
  /// closed and all messages have been received.
  std::optional<Message> receive(std::chrono::milliseconds timeout, bool& done) {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, timeout, [&] { return !messages_.empty() || closed_; });
    done = messages_.empty() && closed_;
    if (messages_.empty()) return std::nullopt;
    Item item = std::move(messages_.front());
    messages_.pop_front();
    bytes_ -= item.bytes;
    return std::move(item.message);
  }
  /// Bytes of payload that wait to be received.
  std::size_t bytes() const {
    std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  struct Item {
    Message message;
    std::size_t bytes;
  };
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Item> messages_;
  std::size_t bytes_ = 0;
  bool closed_ = false;     ///< by close()
  bool abandoned_ = false;  ///< by abandon()
};

}  // namespace headway::record
