// SPDX-License-Identifier: MIT
#include "trace/load/cuda_api.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace headway::trace::load_detail {

using conventions::DeviceCallKind;

conventions::DeviceCallKind cuda_call_kind(std::string_view name) {
  // "_v7000" is the CUDA version the call was introduced in; "_ptsz"/"_ptds" mark per-thread
  // default streams.
  std::size_t suffix = name.rfind("_v");
  if (suffix != std::string_view::npos && suffix + 2 < name.size() &&
      std::all_of(name.begin() + static_cast<std::ptrdiff_t>(suffix) + 2, name.end(),
                  [](unsigned char c) { return std::isdigit(c); })) {
    name = name.substr(0, suffix);
  }
  for (std::string_view per_thread : {"_ptsz", "_ptds"}) {
    if (name.ends_with(per_thread)) name.remove_suffix(per_thread.size());
  }
  if (name.starts_with("cuda")) {
    name.remove_prefix(4);
  } else if (name.starts_with("hip")) {
    // AMD's runtime has CUDA's names with its own prefix; its few other names are in the table.
    name.remove_prefix(3);
  } else if (name.starts_with("cu")) {
    name.remove_prefix(2);
  } else {
    return DeviceCallKind::kOther;
  }

  // The first matching prefix decides, so longer prefixes come first.
  struct Rule {
    std::string_view prefix;
    DeviceCallKind kind;
  };
  static constexpr auto kRules = std::to_array<Rule>({
      {"LaunchHostFunc", DeviceCallKind::kOther},
      {"LaunchKernel", DeviceCallKind::kLaunch},
      {"LaunchCooperativeKernel", DeviceCallKind::kLaunch},
      {"Launch", DeviceCallKind::kLaunch},
      {"GraphLaunch", DeviceCallKind::kGraphLaunch},
      {"ExtLaunch", DeviceCallKind::kLaunch},
      {"ExtModuleLaunch", DeviceCallKind::kLaunch},
      {"HccModuleLaunch", DeviceCallKind::kLaunch},
      {"ModuleLaunch", DeviceCallKind::kLaunch},
      {"StreamWaitEvent", DeviceCallKind::kStreamWaitEvent},
      {"StreamSynchronize", DeviceCallKind::kStreamSynchronize},
      {"EventSynchronize", DeviceCallKind::kEventSynchronize},
      {"DeviceSynchronize", DeviceCallKind::kDeviceSynchronize},
      {"ThreadSynchronize", DeviceCallKind::kDeviceSynchronize},
      {"CtxSynchronize", DeviceCallKind::kDeviceSynchronize},
      {"EventRecord", DeviceCallKind::kEventRecord},
      {"Memset", DeviceCallKind::kMemset},
      {"MallocHost", DeviceCallKind::kAllocate},
      {"HostAlloc", DeviceCallKind::kAllocate},
      {"Malloc", DeviceCallKind::kAllocate},
      {"MemAlloc", DeviceCallKind::kAllocate},
      {"MemHostAlloc", DeviceCallKind::kAllocate},
      {"FreeHost", DeviceCallKind::kFree},
      {"Free", DeviceCallKind::kFree},
      {"MemFree", DeviceCallKind::kFree},
      // Virtual memory management, which expandable segments of PyTorch's allocator use.
      {"MemCreate", DeviceCallKind::kAllocate},
      {"MemMap", DeviceCallKind::kAllocate},
      {"MemSetAccess", DeviceCallKind::kAllocate},
      {"MemUnmap", DeviceCallKind::kFree},
      {"MemRelease", DeviceCallKind::kFree},
  });
  if (name.starts_with("Memcpy")) {
    // hipMemcpyWithStream waits for the stream's copy, whatever its name suggests.
    bool asynchronous = name.find("Async") != std::string_view::npos;
    return asynchronous ? DeviceCallKind::kCopy : DeviceCallKind::kCopyBlocking;
  }
  for (const Rule& rule : kRules) {
    if (name.starts_with(rule.prefix)) return rule.kind;
  }
  return DeviceCallKind::kOther;
}

}  // namespace headway::trace::load_detail
