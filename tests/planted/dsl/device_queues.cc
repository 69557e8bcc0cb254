// SPDX-License-Identifier: MIT
#include "tests/planted/dsl/device_queues.h"

#include <algorithm>

namespace headway::planted {
namespace {

constexpr std::size_t kRemembered = 4096;

}  // namespace

DeviceQueues::DeviceQueues(Recording& recording, Members members)
    : recording_(recording), members_(std::move(members)), queues_(recording.streams.size()) {}

void DeviceQueues::enqueue_op(int stream, int op, TimeNs arrival, DurationNs duration) {
  Item item{Item::Kind::kOp, op, arrival, duration, 0, {}, 0, false};
  queues_[stream].pending.push_back(std::move(item));
  progress();
}

void DeviceQueues::enqueue_collective(int stream, int op, TimeNs arrival, DurationNs transfer,
                                      const std::string& communicator, std::int64_t sequence) {
  Item item{Item::Kind::kCollective, op, arrival, transfer, 0, communicator, sequence, false};
  queues_[stream].pending.push_back(std::move(item));
  progress();
}

void DeviceQueues::enqueue_record(int stream, std::uint64_t event, TimeNs arrival) {
  queues_[stream].pending.push_back({Item::Kind::kRecord, -1, arrival, {}, event, {}, 0, false});
  progress();
}

void DeviceQueues::enqueue_await(int stream, std::uint64_t event) {
  queues_[stream].pending.push_back({Item::Kind::kAwait, -1, {}, {}, event, {}, 0, false});
  progress();
}

std::optional<TimeNs> DeviceQueues::idle_at(int stream) const {
  const Queue& queue = queues_[stream];
  return queue.pending.empty() ? std::optional(queue.tail) : std::nullopt;
}

std::optional<TimeNs> DeviceQueues::event_at(std::uint64_t event) const {
  auto found = events_.find(event);
  return found == events_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<TimeNs> DeviceQueues::room_at(int stream, std::int64_t limit) const {
  const Queue& queue = queues_[stream];
  auto places = static_cast<std::size_t>(limit);
  std::size_t all = queue.ends.size() + queue.pending.size();
  if (all < places) return TimeNs{0};
  if (queue.pending.size() >= places) return std::nullopt;
  return queue.ends[all - places];
}

/// Resolves what can be resolved, until nothing moves.
void DeviceQueues::progress() {
  for (bool moved = true; moved;) {
    moved = false;
    for (int stream = 0; stream < static_cast<int>(queues_.size()); ++stream) {
      while (!queues_[stream].pending.empty() && resolve_front(stream)) moved = true;
    }
  }
}

bool DeviceQueues::resolve_front(int stream) {
  Queue& queue = queues_[stream];
  Item& item = queue.pending.front();
  DurationNs gap = recording_.devices[recording_.streams[stream].device].gap;
  TimeNs free = queue.after_op ? queue.tail + gap : queue.tail;
  switch (item.kind) {
    case Item::Kind::kRecord:
      events_[item.event] = queue.tail = std::max(queue.tail, item.arrival);
      break;
    case Item::Kind::kAwait: {
      auto recorded = events_.find(item.event);
      if (recorded == events_.end()) return false;
      if (recorded->second > queue.tail) {
        queue.tail = recorded->second;
        queue.after_op = true;
      }
      break;
    }
    case Item::Kind::kOp: {
      TimeNs start = std::max(free, item.arrival);
      finish_op(stream, item, start, start + item.duration);
      break;
    }
    case Item::Kind::kCollective: {
      Meeting& meeting = meetings_[{item.communicator, item.sequence}];
      TimeNs start = std::max(free, item.arrival);
      if (!item.arrived) {
        item.arrived = true;
        ++meeting.arrived;
        meeting.last = std::max(meeting.last, start);
        meeting.transfer = std::max(meeting.transfer, item.duration);
      }
      if (meeting.arrived < members_[item.communicator]) return false;
      finish_op(stream, item, start, meeting.last + meeting.transfer);
      break;
    }
  }
  queue.pending.pop_front();
  return true;
}

void DeviceQueues::finish_op(int stream, Item& item, TimeNs start, TimeNs end) {
  Queue& queue = queues_[stream];
  recording_.ops[item.op].interval = {start, end};
  queue.tail = end;
  queue.after_op = true;
  queue.ends.push_back(end);
  if (queue.ends.size() > kRemembered) queue.ends.pop_front();
}

}  // namespace headway::planted
