// SPDX-License-Identifier: MIT
#include "collector/record/system/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace headway::record {

namespace {

constexpr const char* kLibrary = "libnvidia-ml.so.1";

}  // namespace

bool Nvml::is_installed() {
  void* library = ::dlopen(kLibrary, RTLD_LAZY | RTLD_LOCAL);
  if (library) ::dlclose(library);
  return library != nullptr;
}

std::string Nvml::open() {
  library_ = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library_) return "libnvidia-ml.so.1 is missing: no NVIDIA driver";
  auto find = [&](auto& function, const char* name) {
    if (!function)
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library_, name));
  };
  find(init, "nvmlInit_v2");
  find(shutdown, "nvmlShutdown");
  find(error_text, "nvmlErrorString");
  find(device_count, "nvmlDeviceGetCount_v2");
  find(device, "nvmlDeviceGetHandleByIndex_v2");
  find(uuid, "nvmlDeviceGetUUID");
  find(utilisation, "nvmlDeviceGetUtilizationRates");
  find(memory, "nvmlDeviceGetMemoryInfo");
  find(clock, "nvmlDeviceGetClockInfo");
  find(throttle_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
  find(throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");  // its name before R535
  find(power, "nvmlDeviceGetPowerUsage");
  find(temperature, "nvmlDeviceGetTemperature");
  find(pcie_throughput, "nvmlDeviceGetPcieThroughput");
  find(fields, "nvmlDeviceGetFieldValues");
  find(gpm_support, "nvmlGpmQueryDeviceSupport");
  find(gpm_allocate, "nvmlGpmSampleAlloc");
  find(gpm_sample, "nvmlGpmSampleGet");
  find(gpm_metrics, "nvmlGpmMetricsGet");
  find(gpm_free, "nvmlGpmSampleFree");
  if (!init || !shutdown || !device_count || !device || !uuid)
    return "libnvidia-ml.so.1 lacks functions that Headway needs";
  int result = init();
  if (result == kSuccess) {
    initialised_ = true;
    return "";
  }
  const char* text = error_text ? error_text(result) : nullptr;
  return fmt::format("NVML does not start: {}", text ? text : std::to_string(result));
}

Nvml::~Nvml() {
  if (initialised_) shutdown();
  if (library_) ::dlclose(library_);
}

}  // namespace headway::record
