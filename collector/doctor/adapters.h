// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/doctor/pci.h"
#include "collector/doctor/system.h"

namespace headway::doctor {

/// An entry of a RoCE port's address table.
struct Gid {
  int index = 0;
  bool is_v2 = false;     ///< RoCE v2, which is routed; else v1
  bool is_ipv4 = false;   ///< of an IPv4 address
  std::string interface;  ///< "eth0"
};

/// A port of an InfiniBand or RoCE adapter, as /sys/class/infiniband/NAME/ports/NUMBER has it.
struct Port {
  std::string number;
  std::string state;  ///< "4: ACTIVE"
  std::string rate;   ///< "400 Gb/sec (4X NDR)"
  double gbit_per_s = 0;
  bool is_ethernet = false;  ///< RoCE
  std::vector<Gid> gids;     ///< of a RoCE port: the set entries

  bool is_active() const { return state.starts_with("4:"); }
  bool is_initialised_only() const { return state.starts_with("2:"); }
};

struct Adapter {
  std::string name;  ///< "mlx5_0"
  std::optional<PciDevice> pci;
  std::vector<Port> ports;

  bool is_active() const;
};

/// All adapters, sorted by name.
std::vector<Adapter> find_adapters(const System& system);
/// The adapters and ports that NCCL may use with the current NCCL_IB_HCA.
std::vector<Adapter> find_used_adapters(const System& system);

/// The adapter nearest to a GPU; adapters with an active port are preferred.
struct Nearest {
  const Adapter* adapter = nullptr;
  Distance distance = Distance::kSys;
};
std::optional<Nearest> nearest_adapter(const PciDevice& gpu, const std::vector<Adapter>& adapters);

}  // namespace headway::doctor
