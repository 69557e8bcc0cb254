// SPDX-License-Identifier: MIT
#include "gui/models/timeline/color_role.h"

#include "analyzer/partition/device_ops.h"

namespace headway::gui {

using analyzer::TimeClass;
using trace::DeviceCallKind;
using trace::Phase;
using trace::RangeKind;

namespace {

/// One colour per kind of name: hashes the part before the first comma without digits, so that
/// "aten::item, op_id = 317127" and the next aten::item look alike.
ColorRole role_of_name(std::string_view name) {
  constexpr std::uint32_t kNames = static_cast<std::uint32_t>(ColorRole::kCount_) -
                                   static_cast<std::uint32_t>(ColorRole::kName0);
  constexpr std::size_t kMostRead = 64;
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (char c : name.substr(0, kMostRead)) {
    if (c == ',') break;
    if (c >= '0' && c <= '9') continue;
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  }
  hash ^= hash >> 15;
  return static_cast<ColorRole>(static_cast<std::uint32_t>(ColorRole::kName0) + hash % kNames);
}

ColorRole role_of_phase(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return ColorRole::kForward;
    case Phase::kBackward:
      return ColorRole::kBackward;
    case Phase::kUpdate:
      return role_of(TimeClass::kOptimizer);
    case Phase::kCommunication:
      return role_of(TimeClass::kCommTransfer);
    case Phase::kInput:
      return role_of(TimeClass::kInputOther);
    default:
      return ColorRole::kOtherPhase;
  }
}

}  // namespace

ColorRole role_of(const trace::Trace& trace, trace::RangeId range) {
  if (trace.ranges.is(range, trace::Ranges::kMark)) return ColorRole::kMark;
  const trace::RangeInfo* info = trace.info(range);
  if (!info) return role_of_name(trace.strings[trace.ranges.name[range.value]]);
  switch (info->kind) {
    case RangeKind::kStep:
      return ColorRole::kStep;
    case RangeKind::kPhase:
    case RangeKind::kOp:
      return role_of_phase(info->phase);
    case RangeKind::kInputWait:
    case RangeKind::kBatch:
    case RangeKind::kCollate:
      return role_of(TimeClass::kInputOther);
    case RangeKind::kRead:
      return role_of(TimeClass::kIoRead);
    case RangeKind::kDecode:
    case RangeKind::kAugment:
      return role_of(TimeClass::kDecode);
    default:
      return role_of_name(trace.strings[trace.ranges.name[range.value]]);
  }
}

ColorRole role_of(DeviceCallKind call) {
  switch (call) {
    case DeviceCallKind::kLaunch:
    case DeviceCallKind::kGraphLaunch:
      return ColorRole::kLaunchCall;
    case DeviceCallKind::kCopy:
    case DeviceCallKind::kMemset:
      return role_of(TimeClass::kH2d);
    case DeviceCallKind::kCopyBlocking:
    case DeviceCallKind::kEventSynchronize:
    case DeviceCallKind::kStreamSynchronize:
    case DeviceCallKind::kDeviceSynchronize:
      return role_of(TimeClass::kHostSync);
    case DeviceCallKind::kAllocate:
    case DeviceCallKind::kFree:
      return role_of(TimeClass::kAllocator);
    default:
      return ColorRole::kOtherCall;
  }
}

ColorRole role_of(const trace::Trace& trace, const analyzer::Attribution& attribution,
                  trace::DeviceOpId op) {
  return role_of(analyzer::busy_class(trace, attribution, op));
}

}  // namespace headway::gui
