// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/planted/dsl/recording.h"

namespace headway::planted {

/// The streams of all ranks: work runs in order, after its launch has arrived, the events it awaits
/// were recorded, and, for a collective, all members have begun.
class DeviceQueues {
 public:
  /// Members of each communicator that are simulated.
  using Members = std::map<std::string, int, std::less<>>;
  DeviceQueues(Recording& recording, Members members);

  void enqueue_op(int stream, int op, TimeNs arrival, DurationNs duration);
  /// `communicator`'s next collective of this rank.
  void enqueue_collective(int stream, int op, TimeNs arrival, DurationNs transfer,
                          const std::string& communicator, std::int64_t sequence);
  void enqueue_record(int stream, std::uint64_t event, TimeNs arrival);
  void enqueue_await(int stream, std::uint64_t event);

  /// When the stream has done all that it was given; nullopt while that depends on another rank.
  std::optional<TimeNs> idle_at(int stream) const;
  std::optional<TimeNs> event_at(std::uint64_t event) const;
  /// When a new launch fits into a stream of `limit` places; nullopt as above.
  std::optional<TimeNs> room_at(int stream, std::int64_t limit) const;

 private:
  struct Item {
    enum class Kind { kOp, kCollective, kRecord, kAwait };
    Kind kind;
    int op = -1;
    TimeNs arrival;
    DurationNs duration;
    std::uint64_t event = 0;
    std::string communicator;
    std::int64_t sequence = 0;
    bool arrived = false;
  };
  struct Queue {
    std::deque<Item> pending;
    TimeNs tail{0};
    bool after_op = false;
    std::deque<TimeNs> ends;  ///< of the last ops
  };
  struct Meeting {
    int arrived = 0;
    TimeNs last{0};
    DurationNs transfer;
  };
  void progress();
  bool resolve_front(int stream);
  void finish_op(int stream, Item& item, TimeNs start, TimeNs end);

  Recording& recording_;
  Members members_;
  std::vector<Queue> queues_;
  std::map<std::uint64_t, TimeNs> events_;
  std::map<std::pair<std::string, std::int64_t>, Meeting> meetings_;
};

}  // namespace headway::planted
