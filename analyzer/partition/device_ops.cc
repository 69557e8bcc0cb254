// SPDX-License-Identifier: MIT
#include "analyzer/partition/device_ops.h"

#include <algorithm>
#include <array>

#include "analyzer/device_view.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// TimeClass has the busy classes first; anything from here on is idle time.
constexpr std::size_t kBusyClasses = static_cast<std::size_t>(TimeClass::kIoRead);

/// Sweeps over starts and ends, keeping the running ops of each class in the order in which they
/// began.
class BusySweep {
 public:
  void advance(TimeNs to, std::vector<Segment>& out) {
    if (to > now_) {
      for (std::size_t c = 0; c < kBusyClasses; ++c) {
        if (running_[c].empty()) continue;
        emit({{now_, to}, static_cast<TimeClass>(c), EventRef::of(running_[c].front())}, out);
        break;
      }
      now_ = to;
    }
  }
  void start(DeviceOpId op, TimeClass c) { running_[static_cast<std::size_t>(c)].push_back(op); }
  void stop(DeviceOpId op, TimeClass c) { std::erase(running_[static_cast<std::size_t>(c)], op); }
  void jump(TimeNs to) { now_ = std::max(now_, to); }
  bool idle() const {
    return std::all_of(running_.begin(), running_.end(),
                       [](const auto& ops) { return ops.empty(); });
  }

 private:
  static void emit(const Segment& segment, std::vector<Segment>& out) {
    if (!out.empty() && out.back().interval.end == segment.interval.begin &&
        out.back().time_class == segment.time_class && out.back().cause == segment.cause) {
      out.back().interval.end = segment.interval.end;
    } else {
      out.push_back(segment);
    }
  }

  TimeNs now_ = TimeNs::min();
  std::array<std::vector<DeviceOpId>, kBusyClasses> running_;
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

TimeClass busy_class(const Trace& trace, const Attribution& attribution, DeviceOpId op) {
  switch (trace.device_ops.kind[op.value]) {
    case DeviceOpKind::kCopyHostToDevice:
      return TimeClass::kH2d;
    case DeviceOpKind::kCopyDeviceToHost:
    case DeviceOpKind::kCopyDeviceToDevice:
    case DeviceOpKind::kCopyPeer:
    case DeviceOpKind::kCopyHostToHost:
      return TimeClass::kD2hOther;
    default:
      break;
  }
  if (is_communication(trace, op)) return TimeClass::kCommTransfer;
  if (attribution.phase_of[op.value] == Phase::kUpdate) return TimeClass::kOptimizer;
  return trace.device_ops.math_unit[op.value] == MathUnit::kTensor ? TimeClass::kComputeTensor
                                                                   : TimeClass::kComputeOther;
}

std::vector<Segment> busy_segments(const Trace& trace, const Attribution& attribution,
                                   const DeviceWork& work) {
  const DeviceOps& ops = trace.device_ops;
  std::vector<DeviceOpId> by_end = work.ops;
  std::sort(by_end.begin(), by_end.end(), [&](DeviceOpId a, DeviceOpId b) {
    return std::pair(ops.end[a.value], a) < std::pair(ops.end[b.value], b);
  });
  std::vector<TimeClass> classes;
  classes.reserve(work.ops.size());
  for (DeviceOpId op : work.ops) classes.push_back(busy_class(trace, attribution, op));
  auto class_of = [&](DeviceOpId op) {
    auto at = std::lower_bound(work.ops.begin(), work.ops.end(), op);
    return classes[static_cast<std::size_t>(at - work.ops.begin())];
  };
  std::vector<Segment> segments;
  BusySweep sweep;
  std::size_t ended = 0;
  for (std::size_t i = 0; i < work.ops.size(); ++i) {
    TimeNs start = ops.start[work.ops[i].value];
    // Ends up to and including this start come first: touching ops do not overlap.
    for (; ended < by_end.size() && ops.end[by_end[ended].value] <= start; ++ended) {
      // An op without duration ends before it has begun; it takes no time and is never running.
      if (ops.start[by_end[ended].value] == ops.end[by_end[ended].value]) continue;
      sweep.advance(ops.end[by_end[ended].value], segments);
      sweep.stop(by_end[ended], class_of(by_end[ended]));
    }
    sweep.advance(start, segments);
    sweep.jump(start);
    if (ops.end[work.ops[i].value] > start) sweep.start(work.ops[i], classes[i]);
  }
  for (; ended < by_end.size(); ++ended) {
    if (ops.start[by_end[ended].value] == ops.end[by_end[ended].value]) continue;
    sweep.advance(ops.end[by_end[ended].value], segments);
    sweep.stop(by_end[ended], class_of(by_end[ended]));
  }
  return segments;
}

}  // namespace headway::analyzer
