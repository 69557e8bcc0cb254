// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <array>

#include "collector/doctor/adapters.h"
#include "collector/doctor/checks.h"
#include "collector/doctor/nccl_settings.h"

namespace headway::doctor {
namespace {

/// NCCL reads this file where NCCL_TOPO_FILE is not set (its user guide, "NCCL_TOPO_FILE").
const std::string kDefaultTopology = "/var/run/nvidia-topologyd/virtualTopology.xml";

bool is_virtual_machine(const System& system) {
  return system.read("/proc/cpuinfo").find(" hypervisor") != std::string::npos;
}

}  // namespace

Finding check_nccl(const System& system) {
  struct Setting {
    const char* name;
    const char* value;
    const char* effect;
  };
  static constexpr auto kSlow = std::to_array<Setting>({
      {"NCCL_P2P_DISABLE", "1", "GPUs of this machine communicate through host memory"},
      {"NCCL_SHM_DISABLE", "1", "GPUs without a direct link communicate over the network"},
      {"NCCL_IB_DISABLE", "1", "nodes communicate over TCP instead of InfiniBand"},
      {"NCCL_NVLS_ENABLE", "0", "NVLink reduction (NVLS) is off"},
      {"NCCL_NVTX_DISABLE", "1", "NCCL's NVTX ranges are off: collectives cannot be identified"},
      {"NCCL_DEBUG", "TRACE", "a log line for every step"},
      {"CUDA_LAUNCH_BLOCKING", "1", "every launch waits for its kernel"},
      {"TORCH_NCCL_BLOCKING_WAIT", "1", "the host waits for every collective"},
      {"NVIDIA_TF32_OVERRIDE", "0",
       "cuBLAS and cuDNN keep FP32 products off tensor cores, whatever the program allows"},
      {"TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "0", "PyTorch's FP32 products stay off tensor cores"},
  });
  const std::map<std::string, NcclSetting> settings = nccl_settings(system);
  std::string text;
  for (const Setting& slow : kSlow) {
    const auto found = settings.find(slow.name);
    const bool of_nccl = found != settings.end();
    if ((of_nccl ? found->second.value : system.variable(slow.name)) != slow.value) continue;
    const bool in_file = of_nccl && found->second.source.starts_with('/');
    text += fmt::format("{}{}={}{}: {}", text.empty() ? "" : "; ", slow.name, slow.value,
                        in_file ? " in " + found->second.source : "", slow.effect);
  }
  if (!text.empty()) return {Status::kWarning, text, "Unset debugging variables."};
  text = "no variable in this shell slows training";
  std::string set;
  for (const auto& [name, setting] : settings)
    set += fmt::format("{}{}={}", set.empty() ? "" : ", ", name, setting.value);
  return {Status::kOk, set.empty() ? text : fmt::format("{}; in effect: {}", text, set), ""};
}

Finding check_topology_file(const System& system) {
  const std::string file = nccl_setting(system, "NCCL_TOPO_FILE");
  if (!file.empty()) {
    if (file.front() == '/' && system.exists(file))
      return {Status::kOk, file + " is in effect", ""};
    return {Status::kProblem, fmt::format("NCCL_TOPO_FILE is {}, which does not exist", file),
            "Correct it, mount it into the container, or unset it."};
  }
  if (system.exists(kDefaultTopology)) return {Status::kOk, kDefaultTopology + " is in effect", ""};
  const std::vector<Adapter> adapters = find_adapters(system);
  const std::size_t gpus = find_gpus(system).size();
  if (gpus > 1 && !adapters.empty() && is_virtual_machine(system))
    return {Status::kWarning,
            fmt::format("no file, on a virtual machine with {} GPUs and {} adapters, whose PCIe "
                        "tree may differ from the host's",
                        gpus, adapters.size()),
            "NCCL derives its rings from this tree. Cloud providers supply a file per machine "
            "type: set NCCL_TOPO_FILE."};
  return {Status::kNote, "no file: NCCL detects the topology", ""};
}

}  // namespace headway::doctor
