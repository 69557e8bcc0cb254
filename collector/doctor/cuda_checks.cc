// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "collector/doctor/checks.h"

namespace headway::doctor {
namespace {

constexpr const char* kGpus = "/proc/driver/nvidia/gpus";

/// "Model: \t NVIDIA H200" -> "NVIDIA H200".
std::string value_of(const std::string& text, const std::string& key) {
  std::size_t at = text.find(key + ":");
  if (at == std::string::npos) return "";
  std::size_t begin = text.find_first_not_of(" \t", at + key.size() + 1);
  std::size_t end = text.find('\n', at);
  if (begin == std::string::npos || begin >= end) return "";
  return text.substr(begin, end == std::string::npos ? end : end - begin);
}

}  // namespace

Finding check_driver(const System& system) {
  std::optional<System::Library> driver = system.library({"libcuda.so.1"}, "cuDriverGetVersion");
  if (!driver && !system.exists(kGpus))
    return {Status::kNote,
            "no NVIDIA driver: ranges, processes and counters can be recorded, CUDA cannot", ""};
  if (!driver)
    return {Status::kProblem, "the kernel module is loaded, but libcuda.so.1 is missing",
            "In a container, start it with the NVIDIA runtime (`--gpus all`); otherwise install "
            "the driver's user-space part."};
  const std::string version =
      fmt::format("CUDA {}.{}", driver->version / 1000, driver->version % 1000 / 10);
  if (driver->version < 12000)
    return {Status::kProblem, version, "Headway records CUDA 12.0 and later: update the driver."};
  return {Status::kOk, version, ""};
}

Finding check_devices(const System& system) {
  std::vector<std::string> gpus = system.list(kGpus);
  if (gpus.empty()) return {Status::kNote, "none", ""};
  std::string model =
      value_of(system.read(std::string(kGpus) + "/" + gpus.front() + "/information"), "Model");
  std::string text = fmt::format("{} x {}", gpus.size(), model.empty() ? "NVIDIA GPU" : model);
  for (const std::string& name : system.list("/dev")) {
    bool is_gpu = name.starts_with("nvidia") &&
                  name.find_first_not_of("0123456789", 6) == std::string::npos && name.size() > 6;
    if ((is_gpu || name == "nvidiactl") && !system.usable("/dev/" + name))
      return {Status::kProblem, fmt::format("{}, but no permission to open /dev/{}", text, name),
              "Join the group that owns it, or ask the machine's administrator."};
  }
  std::string visible = system.variable("CUDA_VISIBLE_DEVICES");
  if (!visible.empty()) text += fmt::format("; CUDA_VISIBLE_DEVICES={}", visible);
  return {Status::kOk, text, ""};
}

Finding check_cupti(const System& system) {
  std::optional<System::Library> cupti =
      system.library({"libcupti.so.13", "libcupti.so.12", "libcupti.so"}, "cuptiGetVersion");
  if (cupti) {
    std::string text = fmt::format("{} (version {}){}", cupti->name, cupti->version,
                                   cupti->path.empty() ? "" : " at " + cupti->path);
    constexpr int kOldest = 19;
    if (cupti->version < kOldest)
      return {Status::kProblem, text, "Install that of CUDA 12.0 or later."};
    return {Status::kOk, text, ""};
  }
  if (!system.exists(kGpus))
    return {Status::kNote, "libcupti is missing, but not needed without a GPU", ""};
  return {Status::kWarning, "libcupti is missing",
          "PyTorch wheels include their own. For other programs, add the toolkit's folder: export "
          "LD_LIBRARY_PATH=/usr/local/cuda/extras/CUPTI/lib64:$LD_LIBRARY_PATH"};
}

Finding check_counters(const System& system) {
  std::string parameters = system.read("/proc/driver/nvidia/params");
  if (parameters.empty()) return {Status::kNote, "no NVIDIA driver", ""};
  if (value_of(parameters, "RmProfilingAdminOnly") != "1")
    return {Status::kOk, "readable by every user", ""};
  return {Status::kNote,
          "readable by root only (RmProfilingAdminOnly=1); recording kernels and copies does not "
          "need them",
          ""};
}

}  // namespace headway::doctor
