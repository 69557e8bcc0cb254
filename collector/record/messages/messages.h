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

/// What the recorder's threads tell the one that writes the trace.
namespace headway::record {

/// One image of one process: a pid has several when it calls exec.
using SegmentId = std::uint64_t;

/// A process of the recorded tree was seen; sent again when more is known (its image changed).
struct ProcessSeen {
  std::int32_t pid = 0;
  std::int32_t parent_pid = 0;
  std::int64_t start_monotonic_ns = 0;  ///< CLOCK_MONOTONIC, in steps of 10 ms
  std::string name;                     ///< of the program, without its folder
  std::string command_line;             ///< arguments, a zero between two
  Launched launched;                    ///< what its launcher told it
  bool without_session = false;         ///< see ProcessDescription
};

/// Exactly one of code and signal, or neither where nobody could tell how it ended.
struct ProcessEnded {
  std::int32_t pid = 0;
  std::int64_t monotonic_ns = 0;
  std::optional<int> exit_code;  ///< 0..255
  std::optional<int> signal;     ///< that killed it
};

/// A process has handed over memory.
struct SegmentAdded {
  SegmentId segment = 0;
  std::int32_t pid = 0;
};

/// A process wanted to be recorded and cannot be, with the reason.
struct ProcessRefused {
  std::int32_t pid = 0;
  std::string reason;
};

/// A process wanted to be recorded and lies outside the scope.
struct ProcessLeftOut {
  std::int32_t pid = 0;
};

/// What a round of draining found in one segment. `anchor` was read after the snapshot, so no stamp
/// in the data is newer.
struct SegmentRound {
  SegmentId segment = 0;
  ClockReading anchor;
  SegmentData data;
  SegmentCounters counters;  ///< since the segment's beginning, not of this round
  bool damaged = false;      ///< the memory contradicts its layout; this round is its last
  bool last = false;         ///< the process image is gone, or the recording ends
};

/// A value of a sampled series. `name` etc. live as long as the sampler.
struct Sample {
  std::string_view name;
  std::string_view unit;
  std::string_view description;
  std::int32_t pid = 0;  ///< 0: of the machine
  double value = 0;
  std::string_view gpu = {};  ///< UUID; empty: of no GPU
};
/// What was sampled at one moment.
struct Samples {
  std::int64_t monotonic_ns = 0;  ///< when they were taken
  std::int64_t since_ns = 0;      ///< of the samples before these; of the first ones, their own
  std::vector<Sample> samples;
};

/// The clocks, once a second.
struct ClockTick {
  ClockReading reading;
};

using Message = std::variant<ProcessSeen, ProcessEnded, SegmentAdded, ProcessRefused,
                             ProcessLeftOut, SegmentRound, Samples, ClockTick>;

/// Many senders, one receiver, in order. Unbounded: the senders of what is large (the drain) look
/// at `bytes` first. Thread-safe.
class MessageQueue {
 public:
  /// `bytes`: of its payload, for bytes(). Never waits.
  void send(Message message, std::size_t bytes = 0) {
    {
      std::lock_guard lock(mutex_);
      if (abandoned_) return;
      messages_.push_back({std::move(message), bytes});
      bytes_ += bytes;
    }
    arrived_.notify_one();
  }
  /// No more will be sent.
  void close() {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
    }
    arrived_.notify_one();
  }
  /// Nothing will be received any more: what is sent from now on is dropped, so that no sender waits
  /// for room.
  void abandon() {
    std::lock_guard lock(mutex_);
    abandoned_ = true;
    messages_.clear();
    bytes_ = 0;
  }
  /// The next message; nullopt when none came within the time, or when all have been received and
  /// the queue is closed (`done`).
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
  /// Payload waiting to be written.
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
