// SPDX-License-Identifier: MIT
#include "gui/models/color_role.h"

#include <functional>

#include "analyzer/device_view.h"

namespace headway::gui {

using analyzer::TimeClass;
using trace::DeviceCallKind;
using trace::DeviceOpKind;
using trace::Phase;
using trace::RangeKind;

namespace {

ColorRole role_of_name(trace::StringId name) {
  // Ids are handed out in order of first sight, so neighbours in the program get different colours.
  constexpr std::uint32_t kNames =
      static_cast<std::uint32_t>(ColorRole::kCount_) - static_cast<std::uint32_t>(ColorRole::kName0);
  return static_cast<ColorRole>(static_cast<std::uint32_t>(ColorRole::kName0) +
                                name.value % kNames);
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
  if (!info) return role_of_name(trace.ranges.name[range.value]);
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
      return role_of_name(trace.ranges.name[range.value]);
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
  switch (trace.device_ops.kind[op.value]) {
    case DeviceOpKind::kCopyHostToDevice:
      return role_of(TimeClass::kH2d);
    case DeviceOpKind::kCopyDeviceToHost:
    case DeviceOpKind::kCopyDeviceToDevice:
    case DeviceOpKind::kCopyHostToHost:
      return role_of(TimeClass::kD2hOther);
    default:
      break;
  }
  if (analyzer::is_communication(trace, op)) return role_of(TimeClass::kCommTransfer);
  Phase phase = op.value < attribution.phase_of.size() ? attribution.phase_of[op.value]
                                                       : trace.device_ops.phase[op.value];
  if (phase == Phase::kUpdate) return role_of(TimeClass::kOptimizer);
  return role_of(trace.device_ops.math_unit[op.value] == trace::MathUnit::kTensor
                     ? TimeClass::kComputeTensor
                     : TimeClass::kComputeOther);
}

}  // namespace headway::gui
