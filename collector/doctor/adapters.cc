// SPDX-License-Identifier: MIT
#include "collector/doctor/adapters.h"

#include <algorithm>
#include <cstdlib>

#include "collector/doctor/nccl_settings.h"

namespace headway::doctor {
namespace {

const std::string kAdapters = "/sys/class/infiniband";

bool by_number(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

/// Reads the set entries of the port's address table. An empty entry is all zeros, and its type
/// cannot be read.
std::vector<Gid> read_gids(const System& system, const std::string& port) {
  std::vector<std::string> names = system.list(port + "/gids");
  std::ranges::sort(names, by_number);
  std::vector<Gid> gids;
  for (const std::string& name : names) {
    const std::string address = system.read(port + "/gids/" + name);
    if (address.find_first_not_of("0:") == std::string::npos) continue;
    const std::string type = system.read(port + "/gid_attrs/types/" + name);
    if (type.empty()) continue;
    gids.push_back({.index = std::atoi(name.c_str()),
                    .is_v2 = type == "RoCE v2",
                    .is_ipv4 = address.starts_with("0000:0000:0000:0000:0000:ffff:"),
                    .interface = system.read(port + "/gid_attrs/ndevs/" + name)});
  }
  return gids;
}

Port read_port(const System& system, const std::string& folder, const std::string& number) {
  Port port;
  port.number = number;
  port.state = system.read(folder + "/state");
  port.rate = system.read(folder + "/rate");
  port.gbit_per_s = std::strtod(port.rate.c_str(), nullptr);
  port.is_ethernet = system.read(folder + "/link_layer") == "Ethernet";
  if (port.is_ethernet) port.gids = read_gids(system, folder);
  return port;
}

}  // namespace

bool Adapter::is_active() const {
  return std::ranges::any_of(ports, &Port::is_active);
}

std::vector<Adapter> find_adapters(const System& system) {
  std::vector<std::string> names = system.list(kAdapters);
  std::ranges::sort(names, by_number);
  std::vector<Adapter> adapters;
  for (const std::string& name : names) {
    const std::string folder = kAdapters + "/" + name;
    Adapter& adapter = adapters.emplace_back();
    adapter.name = name;
    adapter.pci = pci_device(system, folder + "/device");
    for (const std::string& number : system.list(folder + "/ports"))
      adapter.ports.push_back(read_port(system, folder + "/ports/" + number, number));
  }
  return adapters;
}

std::vector<Adapter> find_used_adapters(const System& system) {
  const std::string chosen = nccl_setting(system, "NCCL_IB_HCA");
  std::vector<Adapter> adapters = find_adapters(system);
  for (Adapter& adapter : adapters)
    std::erase_if(adapter.ports, [&](const Port& port) {
      return !may_use_port(chosen, adapter.name, port.number);
    });
  std::erase_if(adapters, [&](const Adapter& adapter) { return adapter.ports.empty(); });
  return adapters;
}

std::optional<Nearest> nearest_adapter(const PciDevice& gpu, const std::vector<Adapter>& adapters) {
  const bool any_active = std::ranges::any_of(adapters, &Adapter::is_active);
  std::optional<Nearest> best;
  for (const Adapter& adapter : adapters) {
    if (!adapter.pci || (any_active && !adapter.is_active())) continue;
    const Distance its = distance(gpu, *adapter.pci);
    if (!best || its < best->distance) best = {&adapter, its};
  }
  return best;
}

}  // namespace headway::doctor
