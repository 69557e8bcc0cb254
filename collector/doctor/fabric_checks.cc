// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "collector/doctor/adapters.h"
#include "collector/doctor/checks.h"
#include "collector/doctor/nccl_settings.h"
#include "common/format.h"

namespace headway::doctor {
namespace {

constexpr const char* kNoAdapter = "no InfiniBand or RoCE adapter";

std::string none_text(const System& system) {
  return find_adapters(system).empty() ? kNoAdapter : "NCCL_IB_HCA excludes all";
}

std::string count_of(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// Whether adapters can reach GPU memory by DMA-BUF: that needs Linux 5.12 and NVIDIA's open kernel modules.
bool has_dma_buf(const System& system) {
  int major = 0;
  int minor = 0;
  const std::string release = system.read("/proc/sys/kernel/osrelease");
  if (std::sscanf(release.c_str(), "%d.%d", &major, &minor) != 2) return false;
  const bool open_modules =
      system.read("/proc/driver/nvidia/version").find("Open Kernel Module") != std::string::npos;
  return (major > 5 || (major == 5 && minor >= 12)) && open_modules &&
         nccl_setting(system, "NCCL_DMABUF_ENABLE") != "0";
}

/// The kernel module that gives adapters access to GPU memory: that of NVIDIA's driver, its predecessor, AWS's for EFA, or
/// any module that has registered itself (where NCCL looks); empty: none.
std::string peer_memory(const System& system) {
  static constexpr std::array kModules = {"nvidia_peermem", "nv_peer_mem", "efa_nv_peermem"};
  for (const char* module : kModules)
    if (system.exists(std::string("/sys/module/") + module)) return module;
  static constexpr std::array kClients = {"nv_mem", "nv_mem_nc"};
  for (const char* client : kClients)
    if (system.exists(std::string("/sys/kernel/mm/memory_peers/") + client + "/version"))
      return client;
  return "";
}

/// The largest distance at which NCCL lets an adapter access a GPU directly: PXB unless NCCL is set otherwise. Nullopt:
/// NCCL never does.
std::optional<Distance> gpu_direct_level(const System& system) {
  std::string level = nccl_setting(system, "NCCL_NET_GDR_LEVEL");
  if (level.empty()) level = nccl_setting(system, "NCCL_IB_GDR_LEVEL");
  if (level == "LOC" || level == "0") return std::nullopt;
  if (level == "PIX" || level == "1") return Distance::kPix;
  if (level == "PHB" || level == "3") return Distance::kNode;
  if (level == "SYS" || level == "4" || level == "5") return Distance::kSys;
  return Distance::kPxb;
}

/// "GPU 0 mlx5_0 PIX"
std::string pair_text(std::size_t gpu, const Nearest& nearest) {
  return fmt::format("GPU {} {} {}", gpu, nearest.adapter->name, distance_name(nearest.distance));
}

const Gid* best_gid(const Port& port) {
  const auto found =
      std::ranges::find_if(port.gids, [](const Gid& gid) { return gid.is_v2 && gid.is_ipv4; });
  return found == port.gids.end() ? nullptr : &*found;
}

/// Why RoCE would not work well with this GID index of the port; empty: it works well.
std::string trouble_of(const Port& port, int index) {
  const auto gid = std::ranges::find(port.gids, index, &Gid::index);
  if (gid == port.gids.end()) return "is not set";
  if (!gid->is_v2) return "is RoCE v1, which routers do not forward";
  if (!gid->is_ipv4 && best_gid(port)) return "is not based on an IPv4 address";
  return "";
}

}  // namespace

Finding check_rdma(const System& system) {
  const std::vector<Adapter> adapters = find_adapters(system);
  if (adapters.empty()) return {Status::kNote, kNoAdapter, ""};
  const std::size_t used = find_used_adapters(system).size();
  if (used == 0)
    return {Status::kWarning,
            fmt::format("NCCL_IB_HCA={} excludes all of {}", nccl_setting(system, "NCCL_IB_HCA"),
                        count_of(adapters.size(), "adapter")),
            "NCCL falls back to TCP: correct the variable, or unset it."};
  const std::string text = count_of(used, "adapter");
  if (!system.exists("/proc/driver/nvidia")) return {Status::kNote, text + ", no GPU", ""};
  if (!gpu_direct_level(system))
    return {Status::kWarning, text + ", but NCCL_NET_GDR_LEVEL=LOC: NCCL never uses it",
            "Unset NCCL_NET_GDR_LEVEL."};
  if (const std::string module = peer_memory(system); !module.empty())
    return {Status::kOk, fmt::format("{}, {} is loaded", text, module), ""};
  if (has_dma_buf(system))
    return {Status::kOk,
            text + ", by DMA-BUF (supported by the kernel and the driver's open modules)", ""};
  return {Status::kWarning, text + ", but nvidia_peermem is not loaded",
          "NCCL falls back to copies through host memory: sudo modprobe nvidia_peermem. DMA-BUF "
          "needs Linux 5.12 or later and NVIDIA's open kernel modules."};
}

Finding check_gpu_adapters(const System& system) {
  const std::vector<PciDevice> gpus = find_gpus(system);
  const std::vector<Adapter> adapters = find_used_adapters(system);
  if (adapters.empty()) return {Status::kNote, none_text(system), ""};
  if (gpus.empty()) return {Status::kNote, "no GPU", ""};
  const std::optional<Distance> level = gpu_direct_level(system);
  std::string text;
  std::string far;
  std::map<std::string, int> users;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const std::optional<Nearest> nearest = nearest_adapter(gpus[i], adapters);
    if (!nearest) continue;
    std::string& list = !level || nearest->distance > *level ? far : text;
    list += (list.empty() ? "" : ", ") + pair_text(i, *nearest);
    ++users[nearest->adapter->name];
  }
  if (text.empty() && far.empty())
    return {Status::kNote, "adapter positions are unknown on this machine", ""};
  if (far.empty()) return {Status::kOk, "nearest of each: " + text, ""};
  return {Status::kWarning,
          fmt::format("too far for GPUDirect RDMA (NCCL: up to {}): {}{}",
                      level ? distance_name(*level) : "none", far,
                      text.empty() ? "" : "; near: " + text),
          "NCCL copies through host memory for these GPUs. Use GPUs with a nearby adapter, or "
          "check slots and, on a virtual machine, its PCIe topology. NCCL_NET_GDR_LEVEL=SYS forces "
          "GPUDirect."};
}

Finding check_ports(const System& system) {
  const std::vector<Adapter> adapters = find_used_adapters(system);
  if (adapters.empty()) return {Status::kNote, none_text(system), ""};
  std::map<std::string, int> active;  // by rate
  std::vector<std::string> down;
  bool no_manager = false;
  double fastest = 0;
  for (const Adapter& adapter : adapters) {
    for (const Port& port : adapter.ports) {
      if (port.is_active()) {
        ++active[port.rate];
        fastest = std::max(fastest, port.gbit_per_s);
        continue;
      }
      no_manager |= port.is_initialised_only();
      down.push_back(fmt::format("{}:{} ({})", adapter.name, port.number,
                                 port.state.empty() ? "unknown" : port.state));
    }
  }
  std::string text;
  for (const auto& [rate, count] : active)
    text += fmt::format("{}{} at {}", text.empty() ? "" : ", ", count, rate);
  const std::string downs = fmt::format("not active: {}", fmt::join(down, ", "));
  if (active.empty())
    return {Status::kProblem, downs,
            no_manager ? "INIT waits for a subnet manager (opensm, or the switch's)."
                       : "Check cables and switch, then `ibstat` or `rdma link`."};
  std::vector<std::string> slow;
  for (const Adapter& adapter : adapters)
    for (const Port& port : adapter.ports)
      if (port.is_active() && port.gbit_per_s < fastest)
        slow.push_back(fmt::format("{}:{}", adapter.name, port.number));
  if (!down.empty())
    return {Status::kWarning, fmt::format("{} active; {}", text, downs),
            no_manager ? "INIT waits for a subnet manager (opensm, or the switch's)."
                       : "Check cables and switch, or exclude these ports with NCCL_IB_HCA: NCCL "
                         "uses the others."};
  if (!slow.empty())
    return {Status::kWarning,
            fmt::format("{}; slower than others: {}", text, fmt::join(slow, ", ")),
            "A bad cable or a failed lane lowers a port's rate, and the slowest port decides. "
            "Exclude management and storage adapters with NCCL_IB_HCA."};
  return {Status::kOk, text, ""};
}

Finding check_gids(const System& system) {
  const std::string asked = nccl_setting(system, "NCCL_IB_GID_INDEX");
  const int index = asked.empty() ? -1 : std::atoi(asked.c_str());
  std::vector<std::string> wrong;
  std::vector<std::string> without;
  std::map<int, int> good;  // ports by index
  for (const Adapter& adapter : find_used_adapters(system)) {
    for (const Port& port : adapter.ports) {
      if (!port.is_ethernet || !port.is_active()) continue;
      const Gid* best = best_gid(port);
      if (best) ++good[best->index];
      if (!best && std::ranges::none_of(port.gids, &Gid::is_v2))
        without.push_back(fmt::format("{}:{}", adapter.name, port.number));
      if (index < 0) continue;
      if (const std::string trouble = trouble_of(port, index); !trouble.empty())
        wrong.push_back(fmt::format("{}:{} {}", adapter.name, port.number, trouble));
    }
  }
  if (good.empty() && wrong.empty() && without.empty())
    return {Status::kNote, "no active RoCE port", ""};
  std::string where;
  for (const auto& [at, count] : good)
    where += fmt::format("{}{} ({})", where.empty() ? "" : ", ", at,
                         count_of(static_cast<std::size_t>(count), "port"));
  if (!without.empty())
    return {Status::kWarning, fmt::format("no RoCE v2 address: {}", fmt::join(without, ", ")),
            "Assign an IP address to the port's network interface; RoCE v2 needs it."};
  if (!wrong.empty())
    return {Status::kWarning,
            fmt::format("NCCL_IB_GID_INDEX={}: {}", index, fmt::join(wrong, ", ")),
            where.empty() ? "Unset it: NCCL 2.21 and later choose automatically."
                          : fmt::format("RoCE v2 over IPv4 is at {}. Unset the variable: NCCL 2.21 "
                                        "and later choose automatically.",
                                        where)};
  if (where.empty())
    return {Status::kNote, "RoCE v2 over IPv6 only: NCCL needs NCCL_IB_ADDR_FAMILY=AF_INET6", ""};
  return {
      Status::kOk,
      index >= 0
          ? fmt::format("NCCL_IB_GID_INDEX={} is RoCE v2 on all ports", index)
          : fmt::format("RoCE v2 over IPv4 at index {}; NCCL before 2.21 needs NCCL_IB_GID_INDEX",
                        where),
      ""};
}

Finding check_memlock(const System& system) {
  const std::optional<std::uint64_t> limit = system.limit(RLIMIT_MEMLOCK);
  if (!limit) return {Status::kOk, "no limit", ""};
  const std::string text =
      fmt::format("at most {}", format_bytes(static_cast<std::int64_t>(*limit)));
  if (find_adapters(system).empty()) return {Status::kNote, text + ", needed only for RDMA", ""};
  // NCCL registers several MiB for each connection.
  constexpr std::uint64_t kTooLittle = std::uint64_t{64} << 20;
  return {*limit < kTooLittle ? Status::kProblem : Status::kWarning,
          text + ": adapters lock memory and fail above this limit",
          "`ulimit -l unlimited`; in a container --ulimit memlock=-1; for Slurm "
          "LimitMEMLOCK=infinity in slurmd's unit; else /etc/security/limits.conf."};
}

}  // namespace headway::doctor
