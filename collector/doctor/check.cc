// SPDX-License-Identifier: MIT
#include "collector/doctor/check.h"

#include <array>
#include <exception>

#include "collector/doctor/checks.h"

namespace headway::doctor {

std::string_view status_name(Status status) {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kNote:
      return "note";
    case Status::kWarning:
      return "warning";
    case Status::kProblem:
      return "problem";
  }
  return "problem";
}

std::span<const Check> all_checks() {
  static constexpr auto kChecks = std::to_array<Check>({
      {"library", "Injected library", check_library},
      {"nvtx", "NVTX", check_nvtx},
      {"other-profilers", "Other profilers", check_other_profilers},
      {"shared-memory", "Shared memory", check_shared_memory},
      {"descriptors", "Open files", check_descriptors},
      {"clock", "Clock", check_clock},
      {"output", "Place for the trace", check_output},
      {"driver", "CUDA driver", check_driver},
      {"devices", "GPUs", check_devices},
      {"cupti", "CUPTI", check_cupti},
      {"counters", "GPU counters", check_counters},
      {"processors", "Processors", check_processors},
      {"governor", "Processor clocks", check_governor},
      {"memory-limit", "Memory limit", check_memory_limit},
      {"dev-shm", "/dev/shm", check_dev_shm},
      {"storage", "Storage", check_storage},
      {"affinity", "CPUs near GPUs", check_affinity},
      {"nvlink", "NVLink", check_nvlink},
      {"rdma", "GPUDirect RDMA", check_rdma},
      {"gpu-adapters", "GPUs and adapters", check_gpu_adapters},
      {"ports", "Adapter ports", check_ports},
      {"gids", "RoCE addresses", check_gids},
      {"memlock", "Locked memory", check_memlock},
      {"acs", "PCIe redirection", check_acs},
      {"iommu", "IOMMU", check_iommu},
      {"nccl", "NCCL settings", check_nccl},
      {"nccl-topology", "NCCL topology", check_topology_file},
  });
  return kChecks;
}

std::vector<Checked> run_checks(const System& system) {
  std::vector<Checked> results;
  for (const Check& check : all_checks()) {
    Checked& result = results.emplace_back(Checked{&check, {}});
    try {
      result.finding = check.run(system);
    } catch (const std::exception& error) {
      result.finding = {Status::kProblem, error.what(), "Please report this."};
    }
  }
  return results;
}

}  // namespace headway::doctor
