// SPDX-License-Identifier: MIT
#include "analyzer/partition/device_ops.h"

#include <algorithm>
#include <array>

namespace headway::analyzer {
namespace {

using namespace trace;

/// TimeClass has the busy classes first; anything from here on is idle time.
constexpr std::size_t kBusyClasses = static_cast<std::size_t>(TimeClass::kIoRead);

/// The ops of one class that have begun, in order of their start; those that have ended are dropped
/// once they come to the front, so each op costs constant time.
class Running {
 public:
  void add(DeviceOpId op) { ops_.push_back(op); }
  /// The first that began of those still running at `t`; none when there is none.
  DeviceOpId front(const DeviceOps& ops, TimeNs t) {
    while (first_ < ops_.size() && ops.end[ops_[first_].value] <= t) ++first_;
    if (first_ < ops_.size()) return ops_[first_];
    ops_.clear();
    first_ = 0;
    return DeviceOpId::none();
  }

 private:
  std::vector<DeviceOpId> ops_;
  std::size_t first_ = 0;
};

}  // namespace

std::vector<DeviceWork> work_by_device(const Trace& trace) {
  std::vector<DeviceWork> all(trace.devices.size());
  for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
    all[trace.streams[trace.device_ops.stream[i].value].device.value].ops.push_back(DeviceOpId{i});
  }
  for (std::uint32_t d = 0; d < all.size(); ++d) all[d].device = DeviceId{d};
  std::erase_if(all, [](const DeviceWork& work) { return work.ops.empty(); });
  return all;
}

TimeClass busy_class(const Trace&, const Attribution& attribution, DeviceOpId op) {
  return attribution.class_of[op.value];
}

std::vector<Segment> busy_segments(const Trace& trace, const Attribution& attribution,
                                   const DeviceWork& work) {
  const DeviceOps& ops = trace.device_ops;
  std::vector<Segment> segments;
  std::array<Running, kBusyClasses> running;
  /// Emits what runs from `now` on until `to` or until nothing runs; the class that comes first wins.
  auto run = [&](TimeNs now, TimeNs to) {
    while (now < to) {
      DeviceOpId op;
      std::size_t c = 0;
      for (; c < kBusyClasses && !op.valid(); ++c) op = running[c].front(ops, now);
      if (!op.valid()) return;
      TimeNs end = std::min(to, ops.end[op.value]);
      Segment segment{{now, end}, static_cast<TimeClass>(c - 1), EventRef::of(op)};
      if (!segments.empty() && segments.back().interval.end == now &&
          segments.back().time_class == segment.time_class &&
          segments.back().cause == segment.cause) {
        segments.back().interval.end = end;
      } else {
        segments.push_back(segment);
      }
      now = end;
    }
  };
  for (std::size_t i = 0; i < work.ops.size(); ++i) {
    DeviceOpId op = work.ops[i];
    running[static_cast<std::size_t>(attribution.class_of[op.value])].add(op);
    bool last = i + 1 == work.ops.size();
    run(ops.start[op.value], last ? TimeNs::max() : ops.start[work.ops[i + 1].value]);
  }
  return segments;
}

}  // namespace headway::analyzer
