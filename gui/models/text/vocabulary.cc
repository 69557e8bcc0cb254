// SPDX-License-Identifier: MIT
#include "gui/models/text/vocabulary.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace headway::gui {

using trace::DeviceCallKind;
using trace::DeviceOpKind;
using trace::MemoryKind;
using trace::Phase;
using trace::RangeKind;

std::string_view label_of(RangeKind kind) {
  switch (kind) {
    case RangeKind::kStep:
      return "Training step";
    case RangeKind::kPhase:
      return "Phase of a step";
    case RangeKind::kOp:
      return "Host side of an op";
    case RangeKind::kInputWait:
      return "Wait for a batch";
    case RangeKind::kBatch:
      return "Making a batch";
    case RangeKind::kRead:
      return "Reading";
    case RangeKind::kDecode:
      return "Decoding";
    case RangeKind::kAugment:
      return "Augmenting";
    case RangeKind::kCollate:
      return "Collating";
    case RangeKind::kSample:
      return "Sample of the stack";
    case RangeKind::kOther:
      break;
  }
  return "";
}

std::string_view label_of(Phase phase) {
  switch (phase) {
    case Phase::kInput:
      return "Input";
    case Phase::kForward:
      return "Forward";
    case Phase::kBackward:
      return "Backward";
    case Phase::kUpdate:
      return "Update";
    case Phase::kCommunication:
      return "Communication";
    case Phase::kEvaluation:
      return "Evaluation";
    case Phase::kNone:
      break;
  }
  return "";
}

std::string_view label_of(DeviceOpKind kind) {
  switch (kind) {
    case DeviceOpKind::kKernel:
      return "Kernel";
    case DeviceOpKind::kCopyHostToDevice:
      return "Copy host → device";
    case DeviceOpKind::kCopyDeviceToHost:
      return "Copy device → host";
    case DeviceOpKind::kCopyDeviceToDevice:
      return "Copy on the device";
    case DeviceOpKind::kMemset:
      return "Memory set";
    case DeviceOpKind::kCommunication:
      return "Communication";
    case DeviceOpKind::kCopyPeer:
      return "Copy between devices";
    case DeviceOpKind::kCopyHostToHost:
      return "Copy on the host";
  }
  return "Unknown kind";
}

std::string_view label_of(DeviceCallKind kind) {
  switch (kind) {
    case DeviceCallKind::kLaunch:
      return "Launch";
    case DeviceCallKind::kCopy:
      return "Asynchronous copy";
    case DeviceCallKind::kCopyBlocking:
      return "Blocking copy";
    case DeviceCallKind::kMemset:
      return "Memory set";
    case DeviceCallKind::kEventRecord:
      return "Event record";
    case DeviceCallKind::kStreamWaitEvent:
      return "Stream waits for event";
    case DeviceCallKind::kEventSynchronize:
      return "Wait for an event";
    case DeviceCallKind::kStreamSynchronize:
      return "Wait for a stream";
    case DeviceCallKind::kDeviceSynchronize:
      return "Wait for the device";
    case DeviceCallKind::kAllocate:
      return "Allocation";
    case DeviceCallKind::kFree:
      return "Freeing";
    case DeviceCallKind::kGraphLaunch:
      return "Graph launch";
    case DeviceCallKind::kOther:
      break;
  }
  return "Other call";
}

std::string_view label_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kPageable:
      return "pageable";
    case MemoryKind::kPinned:
      return "pinned";
    case MemoryKind::kDevice:
      return "device";
    case MemoryKind::kManaged:
      return "managed";
    case MemoryKind::kUnknown:
      break;
  }
  return "unknown";
}

std::string si(double value, std::string_view unit) {
  static constexpr std::array kPrefixes = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t prefix = 0;
  while (std::fabs(value) >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  int decimals = std::fabs(value) >= 99.95 ? 0 : std::fabs(value) >= 9.995 ? 1 : 2;
  if (prefix == 0 && value == std::floor(value)) decimals = 0;
  return fmt::format("{:.{}f} {}{}", value, decimals, kPrefixes[prefix], unit);
}

}  // namespace headway::gui
