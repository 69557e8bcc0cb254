// SPDX-License-Identifier: MIT
#include "collector/record/drain.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace headway::record {
namespace {

using std::chrono::microseconds;

constexpr microseconds kBusy{2'000};
constexpr microseconds kIdle{20'000};
// When a ring is this full, a burst could overflow it before a normal round.
constexpr double kHurry = 0.25;
constexpr microseconds kHurried{200};
constexpr std::size_t kRoundLimit = 16u << 20;

}  // namespace

void Drain::add(std::shared_ptr<LiveSegment> segment) {
  std::lock_guard lock(mutex_);
  added_.push_back(std::move(segment));
}

void Drain::set_aside(SegmentId id) {
  std::lock_guard lock(mutex_);
  set_aside_.push_back(id);
}

std::size_t Drain::round(bool last) {
  {
    std::lock_guard lock(mutex_);
    segments_.insert(segments_.end(), added_.begin(), added_.end());
    added_.clear();
    for (SegmentId id : std::exchange(set_aside_, {}))
      std::erase_if(segments_, [&](const auto& segment) { return segment->id == id; });
  }
  struct Work {
    LiveSegment* segment;
    bool ending;
    bool ended;
    bool intact;
  };
  std::vector<Work> work;
  fullest_ = 0;
  for (const auto& segment : segments_) {
    // Read before the snapshot, so that the snapshot has all that was written before the end.
    const bool ended = segment->ended.load();
    bool intact = segment->reader->snapshot();
    work.push_back({segment.get(), last || ended, ended, intact});
    if (intact) fullest_ = std::max(fullest_, segment->reader->fullest());
  }
  ClockReading anchor = read_clocks();
  std::size_t moved = 0;
  std::vector<const LiveSegment*> done;
  for (const Work& item : work) {
    SegmentRound message;
    message.segment = item.segment->id;
    message.anchor = anchor;
    message.damaged = !item.intact;
    bool complete = true;
    if (item.intact) {
      std::size_t queued = queue_.bytes();
      std::size_t room = queued < kMaxQueued ? kMaxQueued - queued : 0;
      const bool all = item.ended || (item.ending && !scope_over_);
      item.segment->reader->take(message.data, std::min(room, kRoundLimit), all, complete);
    }
    message.counters = item.segment->reader->counters();
    message.last = !item.intact || (item.ending && complete);
    std::size_t bytes = message.data.bytes();
    moved += bytes;
    if (message.last) done.push_back(item.segment);
    if (message.last && !item.ended) item.segment->reader->close();
    if (bytes > 0 || message.last) queue_.send(std::move(message), bytes);
  }
  std::erase_if(segments_, [&](const auto& segment) {
    return std::find(done.begin(), done.end(), segment.get()) != done.end();
  });
  return moved;
}

void Drain::run() {
  microseconds pause = kBusy;
  for (;;) {
    bool finishing = finishing_.load();
    std::size_t moved = round(finishing);
    if (finishing && segments_.empty()) return;
    pause = moved > 0 ? kBusy : std::min(pause * 2, kIdle);
    if (fullest_ > kHurry) pause = kHurried;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace headway::record
