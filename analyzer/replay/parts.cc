// SPDX-License-Identifier: MIT
#include "analyzer/replay/parts.h"

#include <algorithm>

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr std::size_t kMostParts = 65'000;
/// Shorter stretches of host time are not split: they are the cost of issuing work.
constexpr DurationNs kWorthCutting{2'000};

std::uint64_t hash_of(const Part& part) {
  std::uint64_t key = std::uint64_t{part.op.value} << 32 | part.name.value;
  key ^= std::uint64_t{part.stage_name.value} << 16 ^ std::uint64_t(part.stage) << 48;
  key ^= (std::uint64_t(part.kind) << 8 | std::uint64_t(part.time_class)) * 0x9e3779b97f4a7c15ULL;
  key ^= key >> 33;
  key *= 0xff51afd7ed558ccdULL;
  return key ^ key >> 29;
}

bool is_op(const RangeContext& context) {
  return context.op_source == RangeSource::kOperator ||
         (context.op_source == RangeSource::kNvtx && context.op.valid());
}

}  // namespace

TimeClass class_of_call(DeviceCallKind kind) {
  switch (kind) {
    case DeviceCallKind::kLaunch:
    case DeviceCallKind::kCopy:
    case DeviceCallKind::kMemset:
    case DeviceCallKind::kEventRecord:
    case DeviceCallKind::kStreamWaitEvent:
    case DeviceCallKind::kGraphLaunch:
      return TimeClass::kLaunchGap;
    case DeviceCallKind::kCopyBlocking:
    case DeviceCallKind::kEventSynchronize:
    case DeviceCallKind::kStreamSynchronize:
    case DeviceCallKind::kDeviceSynchronize:
      return TimeClass::kHostSync;
    case DeviceCallKind::kAllocate:
    case DeviceCallKind::kFree:
      return TimeClass::kAllocator;
    case DeviceCallKind::kOther:
      return TimeClass::kHostOther;
  }
  return TimeClass::kHostOther;
}

Parts::Parts(const GapFacts& facts) : facts_(facts), activity_(facts.trace) {
  slots_.resize(1024);
  device_work_.resize(facts.trace.processes.size());
  for (StreamId stream : facts.trace.device_ops.stream)
    device_work_[facts.trace.streams[stream.value].process.value] = true;
  intern(Part{});
}

PartId Parts::intern(const Part& part) {
  if (slots_.size() < parts_.size() * 2) {
    std::vector<std::uint32_t> larger(slots_.size() * 2);
    for (std::uint32_t i = 0; i < parts_.size(); ++i) {
      std::size_t at = hash_of(parts_[i]) % larger.size();
      while (larger[at] != 0) at = (at + 1) % larger.size();
      larger[at] = i + 1;
    }
    slots_.swap(larger);
  }
  std::size_t at = hash_of(part) % slots_.size();
  for (; slots_[at] != 0; at = (at + 1) % slots_.size()) {
    if (parts_[slots_[at] - 1] == part) return PartId::from(slots_[at] - 1);
  }
  if (parts_.size() >= kMostParts && (part.op.value != 0 || part.name.value != 0))
    return intern({part.kind, part.time_class, OpId{0}, {}});
  parts_.push_back(part);
  slots_[at] = static_cast<std::uint32_t>(parts_.size());
  return PartId::from(parts_.size() - 1);
}

PartId Parts::delay(TimeClass time_class) {
  return intern({Part::Kind::kDelay, time_class, OpId{0}, {}});
}

RangeId Parts::between(CallId call) const {
  if (!facts_.any_between()) return RangeId::none();
  const Calls& calls = facts_.trace.calls;
  const ThreadId thread = calls.thread[call.value];
  return facts_.between_range(thread,
                              innermost_range(facts_.trace, thread, calls.start[call.value]));
}

PartId Parts::of(const Points& points, TaskId task) {
  const Attribution& attribution = facts_.attribution;
  if (CallId call = points.call_of(task); call.valid()) {
    const Calls& calls = facts_.trace.calls;
    DeviceOpId op = calls.op[call.value];
    if (RangeId named = between(call); named.valid())
      return intern({Part::Kind::kCall, TimeClass::kBetweenSteps, OpId{0},
                     facts_.trace.ranges.name[named.value]});
    return intern({Part::Kind::kCall, class_of_call(calls.kind[call.value]),
                   op.valid() ? attribution.op_of[op.value] : OpId{0}, calls.name[call.value]});
  }
  if (DeviceOpId op = points.op_of(task); op.valid()) {
    if (RangeId named = facts_.between_range(op); named.valid())
      return intern({Part::Kind::kDevice, TimeClass::kBetweenSteps, OpId{0},
                     facts_.trace.ranges.name[named.value]});
    return intern({Part::Kind::kDevice, attribution.class_of[op.value], attribution.op_of[op.value],
                   facts_.trace.device_ops.name[op.value]});
  }
  return delay(TimeClass::kInputOther);  // the hand-over of a batch
}

PartId Parts::host_part(ThreadId thread, RangeId range, Interval when) {
  Part part{Part::Kind::kHost, TimeClass::kHostOther, OpId{0}, {}};
  if (const RangeId stage = facts_.waits.stage_range(range); stage.valid()) {
    part.stage = *facts_.waits.stage_around(stage);
    part.stage_name = facts_.trace.ranges.name[stage.value];
  }
  if (RangeId named = facts_.between_range(thread, range); named.valid()) {
    part.name = facts_.trace.ranges.name[named.value];
    part.time_class = TimeClass::kBetweenSteps;
    return intern(part);
  }
  if (range.valid()) {
    part.name = facts_.trace.ranges.name[range.value];
    const RangeContext& context = facts_.attribution.contexts[range.value];
    ProcessId process = facts_.trace.threads[facts_.trace.ranges.thread[range.value].value].process;
    if (part.stage != TimeClass::kUnknown) {
      part.time_class = part.stage;
      return intern(part);
    }
    if (facts_.waits.wait_around(range).valid()) {
      part.time_class = TimeClass::kInputOther;
      return intern(part);
    }
    if (context.communication) {
      part.time_class = TimeClass::kCommTransfer;
      return intern(part);
    }
    if (!device_work_[process.value] && is_op(context)) {
      part.time_class =
          context.phase == Phase::kUpdate ? TimeClass::kOptimizer : TimeClass::kComputeOther;
      return intern(part);
    }
  }
  part.time_class = facts_.host_class(thread, when, range, places_);
  return intern(part);
}

void Parts::host(ThreadId thread, Interval window, std::vector<HostShare>& out) {
  const std::size_t first = out.size();
  auto add = [&](PartId part, DurationNs time) {
    if (time.ns <= 0) return;
    for (std::size_t i = first; i < out.size(); ++i) {
      if (out[i].part == part) {
        out[i].time += time;
        return;
      }
    }
    out.push_back({part, time});
  };
  auto add_part = [&](Interval part, RangeId range) {
    if (!part.empty()) add(host_part(thread, range, part), part.length());
  };
  if (window.length() < kWorthCutting)
    return add(intern({Part::Kind::kHost, TimeClass::kLaunchGap, OpId{0}, {}}), window.length());
  scratch_.clear();
  activity_.in(thread, window, scratch_);
  TimeNs now = window.begin;
  for (const Activity& activity : scratch_) {
    add_part({now, activity.interval.begin}, RangeId::none());
    add_part(activity.interval, activity.range);
    now = activity.interval.end;
  }
  add_part({now, window.end}, RangeId::none());
}

}  // namespace headway::analyzer
