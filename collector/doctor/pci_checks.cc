// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "collector/doctor/adapters.h"
#include "collector/doctor/checks.h"

namespace headway::doctor {
namespace {

/// The bridges below the host bridge that requests between two GPUs, or a GPU and its nearest adapter, go
/// through.
std::set<std::string> bridges_in_use(const System& system) {
  std::vector<PciDevice> devices = find_gpus(system);
  const std::size_t gpus = devices.size();
  for (const Adapter& adapter : find_adapters(system))
    if (adapter.pci) devices.push_back(*adapter.pci);
  std::set<std::string> bridges;
  for (std::size_t i = 0; i < gpus; ++i)
    for (std::size_t j = i + 1; j < devices.size(); ++j)
      for (const std::string& bridge : bridges_between(devices[i], devices[j]))
        bridges.insert(bridge);
  return bridges;
}

/// The first three entries of a list, and the number of further ones.
std::string some_of(const std::vector<std::string>& list) {
  constexpr std::size_t kShown = 3;
  if (list.size() <= kShown) return fmt::format("{}", fmt::join(list, ", "));
  return fmt::format("{} and {} more", fmt::join(list.begin(), list.begin() + kShown, ", "),
                     list.size() - kShown);
}

/// "Cpus_allowed_list:\t0-31" of this process.
std::string allowed_cpus(const System& system) {
  std::istringstream lines(system.read("/proc/self/status"));
  const std::string key = "Cpus_allowed_list:";
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t", key.size());
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

/// Indexes of the GPUs in CUDA_VISIBLE_DEVICES; all GPUs when it is not set or does not use indexes.
std::vector<std::size_t> visible_gpus(const System& system, std::size_t count) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(i);
  std::vector<std::size_t> visible;
  std::istringstream parts(system.variable("CUDA_VISIBLE_DEVICES"));
  for (std::string part; std::getline(parts, part, ',');) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
    if (error != std::errc() || end != part.data() + part.size() || index >= count) return all;
    visible.push_back(index);
  }
  return visible.empty() ? all : visible;
}

/// Whether a process with this name runs; the kernel cuts names at 15 characters.
bool runs(const System& system, const std::string& name) {
  return std::ranges::any_of(system.list("/proc"), [&](const std::string& process) {
    return process.find_first_not_of("0123456789") == std::string::npos &&
           system.read("/proc/" + process + "/comm") == name.substr(0, 15);
  });
}

bool has_switches(const System& system) {
  return std::ranges::any_of(system.list("/dev"), [](const std::string& name) {
    return name.starts_with("nvidia-nvswitch") && name.back() >= '0' && name.back() <= '9';
  });
}

}  // namespace

Finding check_acs(const System& system) {
  const std::set<std::string> bridges = bridges_in_use(system);
  if (bridges.empty())
    return {Status::kNote, "no PCIe switch between GPUs, or a GPU and an adapter", ""};
  std::vector<std::string> redirecting;
  bool translated_pass = true;
  for (const std::string& bridge : bridges) {
    const Acs acs = read_acs(system, bridge);
    if (!acs.readable)
      return {Status::kNote, "only root may read the bridge settings: sudo headway doctor", ""};
    if (!acs.redirects()) continue;
    redirecting.push_back(bridge);
    translated_pass &= acs.lets_translated_pass();
  }
  const std::string all = fmt::format("{} bridges", bridges.size());
  if (redirecting.empty())
    return {Status::kOk, all + " forward requests between devices directly", ""};
  const std::string text =
      fmt::format("ACS is on: {} of {} redirect device-to-device requests to the processor ({})",
                  redirecting.size(), all, some_of(redirecting));
  if (translated_pass)
    return {Status::kNote, text + ", except translated ones (ATS), as virtual machines need", ""};
  return {Status::kWarning, text,
          "This makes GPUDirect slow, or hangs it. Without virtual machines, disable ACS in the "
          "BIOS, or after each boot: sudo setpci -s BRIDGE ECAP_ACS+0x6.w=0000 for each bridge."};
}

Finding check_iommu(const System& system) {
  const std::vector<PciDevice> gpus = find_gpus(system);
  if (gpus.empty()) return {Status::kNote, "no GPU", ""};
  if (system.list("/sys/class/iommu").empty()) return {Status::kOk, "none is on", ""};
  std::vector<std::string> translated;
  bool known = false;
  for (const PciDevice& gpu : gpus) {
    const std::string type =
        system.read("/sys/bus/pci/devices/" + gpu.address + "/iommu_group/type");
    known |= !type.empty();
    if (type.starts_with("DMA")) translated.push_back(gpu.address);
  }
  if (!translated.empty())
    return {Status::kWarning,
            fmt::format("it translates the addresses of {} of {} GPUs ({})", translated.size(),
                        gpus.size(), some_of(translated)),
            "Direct copies between devices are slow or impossible: add iommu=pt to the kernel "
            "command line, or disable the IOMMU (intel_iommu=off, amd_iommu=off, or in the BIOS)."};
  if (known) return {Status::kOk, "on, but passes GPU addresses through", ""};
  const bool passes = system.read("/proc/cmdline").find("iommu=pt") != std::string::npos;
  return {passes ? Status::kOk : Status::kNote,
          passes ? "on, with iommu=pt" : "on; whether it translates is unknown", ""};
}

Finding check_affinity(const System& system) {
  const std::vector<PciDevice> gpus = find_gpus(system);
  if (gpus.empty()) return {Status::kNote, "no GPU", ""};
  const std::string allowed_text = allowed_cpus(system);
  const std::vector<int> allowed = parse_cpu_list(allowed_text);
  const std::set<int> may_run(allowed.begin(), allowed.end());
  std::set<int> nodes;
  std::set<int> near_any;
  std::vector<std::string> far;
  for (const std::size_t i : visible_gpus(system, gpus.size())) {
    const std::vector<int> near = parse_cpu_list(gpus[i].local_cpus);
    if (near.empty()) continue;
    nodes.insert(gpus[i].numa_node);
    near_any.insert(near.begin(), near.end());
    if (std::ranges::none_of(near, [&](int cpu) { return may_run.contains(cpu); }))
      far.push_back(
          fmt::format("GPU {} (node {}, CPUs {})", i, gpus[i].numa_node, gpus[i].local_cpus));
  }
  if (may_run.empty() || nodes.empty())
    return {Status::kNote, "GPU and CPU affinity is unknown", ""};
  if (!far.empty())
    return {
        Status::kWarning,
        fmt::format("this shell may use CPUs {}, but none is near {}", allowed_text, some_of(far)),
        "Launches and copies cross to another socket. Run each rank on CPUs near its GPU: numactl "
        "--cpunodebind=NODE --membind=NODE, or the launcher's binding (--bind-to numa, "
        "--cpu-bind)."};
  if (nodes.size() > 1)
    return {Status::kNote,
            fmt::format("the GPUs in use are on {} NUMA nodes: without binding, a rank may run on "
                        "a different node than its GPU",
                        nodes.size()),
            ""};
  if (std::ranges::any_of(may_run, [&](int cpu) { return !near_any.contains(cpu); }))
    return {Status::kNote,
            fmt::format(
                "this shell may use CPUs {}, some on a different NUMA node than the GPUs in use",
                allowed_text),
            ""};
  return {Status::kOk, fmt::format("CPUs {} are near the GPUs", allowed_text), ""};
}

Finding check_nvlink(const System& system) {
  if (find_gpus(system).empty() && !system.exists("/proc/driver/nvidia/gpus"))
    return {Status::kNote, "no GPU", ""};
  const std::vector<System::NvLinks> gpus = system.nvlinks();
  int most = 0;
  for (const System::NvLinks& one : gpus) most = std::max(most, one.active);
  if (has_switches(system) && most == 0 && !runs(system, "nv-fabricmanager"))
    return {
        gpus.empty() ? Status::kNote : Status::kProblem,
        "NVSwitches, but no visible fabric manager" +
            std::string(gpus.empty() ? " (invisible in a container)" : ", and no link is active"),
        gpus.empty() ? ""
                     : "sudo systemctl start nvidia-fabricmanager: CUDA cannot start without it."};
  // A link that no GPU uses is not wired, as on cards with bridges. A link that only other GPUs use is
  // broken.
  std::vector<std::string> fewer;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    if (gpus[i].active < most) fewer.push_back(fmt::format("GPU {} {}", i, gpus[i].active));
  if (!fewer.empty())
    return {Status::kWarning, fmt::format("{} links are active, but of {}", most, some_of(fewer)),
            "The GPU with the fewest links limits. `nvidia-smi nvlink -s` and -e show links and "
            "errors."};
  if (most > 0) return {Status::kOk, fmt::format("{} links of each GPU are active", most), ""};
  if (gpus.empty()) return {Status::kNote, "NVML does not report it", ""};
  return {Status::kNote, "none: GPUs communicate over PCIe", ""};
}

}  // namespace headway::doctor
