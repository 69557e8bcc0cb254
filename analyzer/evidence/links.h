// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

namespace headway::analyzer {

/// What connects devices of one kind, per device and direction.
struct Link {
  std::string_view device;     ///< part of the device's name
  std::string_view label;      ///< "NVLink 3"
  double bytes_per_s;          ///< inside a machine
  double network_bytes_per_s;  ///< between the vendor's own machines; others may have less
  std::string_view source;
};

/// The link of a device by its name; null for devices not in the table.
const Link* link_of(std::string_view device_name);
std::span<const Link> links();

/// The link between a device and its host, by the device's name: a full PCIe slot of the newest
/// generation that the device supports.
struct HostLink {
  std::string_view label;  ///< "PCIe 5.0 x16"
  double bytes_per_s;      ///< rate of large pinned copies, in each direction
};
/// For devices that common/gpu_models.h does not know: PCIe 3.0.
HostLink host_link_of(std::string_view device_name);

}  // namespace headway::analyzer
