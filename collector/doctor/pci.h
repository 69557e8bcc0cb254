// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/doctor/system.h"

namespace headway::doctor {

/// A PCI function and its path from the host bridge.
struct PciDevice {
  std::string address;            ///< "0000:17:00.0"
  std::string root;               ///< "pci0000:16": its host bridge
  std::vector<std::string> path;  ///< addresses from below the host bridge down to itself
  int numa_node = -1;             ///< -1: the machine does not say
  std::string local_cpus;         ///< "0-31"; empty: the machine does not say
};

/// `link` is a folder under /sys that leads to the device. Nothing when it leads to no PCI device.
std::optional<PciDevice> pci_device(const System& system, const std::string& link);

/// The GPUs of NVIDIA's driver, sorted by address, as CUDA_DEVICE_ORDER=PCI_BUS_ID does.
std::vector<PciDevice> find_gpus(const System& system);

/// How far two devices are apart, in the words of `nvidia-smi topo -m` and NCCL, nearest first.
enum class Distance : std::uint8_t {
  kPix,   ///< within one PCIe switch
  kPxb,   ///< through several PCIe switches, but not the host bridge
  kPhb,   ///< through the host bridge
  kNode,  ///< through several host bridges of one NUMA node
  kSys,   ///< from one NUMA node to another
};
std::string_view distance_name(Distance distance);  ///< "PIX", "PXB", "PHB", "NODE", "SYS"

Distance distance(const PciDevice& a, const PciDevice& b);
/// The bridges between the two devices below the last common part of their paths: these could redirect the requests of one
/// device to the other. Empty where the requests go through the host bridge anyway.
std::vector<std::string> bridges_between(const PciDevice& a, const PciDevice& b);

/// Access Control Services of a bridge.
struct Acs {
  bool readable =
      false;  ///< only root may read more than the first 64 bytes of the configuration space
  std::uint16_t control = 0;  ///< 0 where the bridge has no such capability

  /// Requests or completions between devices below the bridge go up to the host bridge.
  bool redirects() const;
  /// Requests whose addresses are translated already (ATS) are not redirected.
  bool lets_translated_pass() const;
};
Acs read_acs(const System& system, const std::string& address);

/// The CPUs of a list such as "0-3,8"; ends of ranges are limited to 65535.
std::vector<int> parse_cpu_list(std::string_view text);

}  // namespace headway::doctor
