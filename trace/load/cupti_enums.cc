// SPDX-License-Identifier: MIT
#include "trace/load/cupti_enums.h"

namespace headway::trace::load_detail {

DeviceOpKind copy_kind(std::int32_t cupti) {
  switch (cupti) {
    case 1:
    case 3:
    case 11:
      return DeviceOpKind::kCopyHostToDevice;
    case 2:
    case 4:
    case 12:
      return DeviceOpKind::kCopyDeviceToHost;
    case 9:
      return DeviceOpKind::kCopyHostToHost;
    case 10:
      return DeviceOpKind::kCopyPeer;
    default:
      return DeviceOpKind::kCopyDeviceToDevice;
  }
}

std::int32_t cupti_copy_kind(DeviceOpKind kind) {
  switch (kind) {
    case DeviceOpKind::kCopyHostToDevice:
      return 1;
    case DeviceOpKind::kCopyDeviceToHost:
      return 2;
    case DeviceOpKind::kCopyHostToHost:
      return 9;
    case DeviceOpKind::kCopyPeer:
      return 10;
    default:
      return 8;
  }
}

MemoryKind memory_kind(std::optional<std::int64_t> kind) {
  switch (kind.value_or(-1)) {
    case 0:
      return MemoryKind::kPageable;
    case 1:
      return MemoryKind::kPinned;
    case 2:
    case 3:
    case 5:
      return MemoryKind::kDevice;
    case 4:
    case 6:
      return MemoryKind::kManaged;
    default:
      return MemoryKind::kUnknown;
  }
}

std::optional<std::int64_t> cupti_memory_kind(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kPageable:
      return 0;
    case MemoryKind::kPinned:
      return 1;
    case MemoryKind::kDevice:
      return 2;
    case MemoryKind::kManaged:
      return 4;
    case MemoryKind::kUnknown:
      return std::nullopt;
  }
  return std::nullopt;
}

std::string_view name_of_kind(DeviceOpKind kind) {
  switch (kind) {
    case DeviceOpKind::kCopyHostToDevice:
      return "[copy host to device]";
    case DeviceOpKind::kCopyDeviceToHost:
      return "[copy device to host]";
    case DeviceOpKind::kCopyDeviceToDevice:
      return "[copy on device]";
    case DeviceOpKind::kCopyPeer:
      return "[copy between devices]";
    case DeviceOpKind::kCopyHostToHost:
      return "[copy on host]";
    case DeviceOpKind::kMemset:
      return "[memset]";
    case DeviceOpKind::kKernel:
    case DeviceOpKind::kCommunication:
      return "";
  }
  return "";
}

Overhead::Kind overhead_kind(std::int32_t cupti) {
  switch (cupti) {
    case 1:  // driver compiler
    case 2:  // JIT compiler
    case 6:  // module loading
    case 7:  // lazy function loading
      return Overhead::Kind::kModuleLoad;
    case 3:  // buffer flush
    case 4:  // instrumentation
      return Overhead::Kind::kProfiler;
    case 5:  // resource
      return Overhead::Kind::kAllocation;
    case 8:  // command buffer full
      return Overhead::Kind::kQueueFull;
    default:
      return Overhead::Kind::kOther;
  }
}

std::int32_t cupti_overhead_kind(Overhead::Kind kind) {
  switch (kind) {
    case Overhead::Kind::kModuleLoad:
      return 6;
    case Overhead::Kind::kProfiler:
      return 4;
    case Overhead::Kind::kAllocation:
      return 5;
    case Overhead::Kind::kQueueFull:
      return 8;
    case Overhead::Kind::kOther:
      return 0;
  }
  return 0;
}

}  // namespace headway::trace::load_detail
