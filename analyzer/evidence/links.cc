// SPDX-License-Identifier: MIT
#include "analyzer/evidence/links.h"

#include <array>

#include "common/gpu_models.h"

namespace headway::analyzer {

std::span<const Link> links() {
  // The first row that fits counts: special variants before the family. GB = 1e9 bytes.
  static constexpr auto kLinks = std::to_array<Link>({
      {"H100 PCIe", "PCIe 5 x16", 64e9, 50e9,
       "NVIDIA H100 data sheet: PCIe Gen5 128 GB/s both ways"},
      {"A100-PCIE", "PCIe 4 x16", 32e9, 25e9,
       "NVIDIA A100 data sheet: PCIe Gen4 64 GB/s both ways"},
      {"V100-PCIE", "PCIe 3 x16", 16e9, 12.5e9, "NVIDIA V100 data sheet: PCIe 32 GB/s both ways"},
      {"B200", "NVLink 5", 900e9, 50e9,
       "NVIDIA DGX B200 data sheet: 1.8 TB/s both ways, 400 Gb/s a GPU"},
      {"H800", "NVLink 4", 200e9, 50e9, "NVIDIA H800: 400 GB/s both ways"},
      {"H20", "NVLink 4", 450e9, 50e9, "NVIDIA H200 data sheet: 900 GB/s both ways"},
      {"H100", "NVLink 4", 450e9, 50e9,
       "NVIDIA DGX H100 data sheet: 900 GB/s both ways, 400 Gb/s a GPU"},
      {"A800", "NVLink 3", 200e9, 25e9, "NVIDIA A800: 400 GB/s both ways"},
      {"A100", "NVLink 3", 300e9, 25e9,
       "NVIDIA DGX A100 data sheet: 600 GB/s both ways, 200 Gb/s a GPU"},
      {"V100", "NVLink 2", 150e9, 12.5e9, "NVIDIA V100 data sheet: 300 GB/s both ways"},
      {"P100", "NVLink 1", 80e9, 12.5e9, "NVIDIA P100 data sheet: 160 GB/s both ways"},
      {"MI300X", "Infinity Fabric", 448e9, 50e9,
       "AMD CDNA 3 white paper: 7 links of 64 GB/s each way"},
      {"MI250", "Infinity Fabric", 400e9, 25e9,
       "AMD MI250X data sheet: 8 links, 800 GB/s both ways"},
      {"L40", "PCIe 4 x16", 32e9, 25e9, "NVIDIA L40 data sheet: PCIe Gen4 64 GB/s both ways"},
      {"L4", "PCIe 4 x16", 32e9, 12.5e9, "NVIDIA L4 data sheet: PCIe Gen4 64 GB/s both ways"},
      {"A40", "PCIe 4 x16", 32e9, 25e9, "NVIDIA A40 data sheet: PCIe Gen4 64 GB/s both ways"},
      {"A10", "PCIe 4 x16", 32e9, 12.5e9, "NVIDIA A10 data sheet: PCIe Gen4 64 GB/s both ways"},
      {"T4", "PCIe 3 x16", 16e9, 6.25e9, "NVIDIA T4 data sheet: PCIe 32 GB/s both ways"},
      {"RTX 4090", "PCIe 4 x16", 32e9, 12.5e9, "NVIDIA Ada white paper: PCIe Gen4"},
      {"RTX 3090", "PCIe 4 x16", 32e9, 12.5e9, "NVIDIA Ampere GA102 white paper: PCIe Gen4"},
  });
  return kLinks;
}

const Link* link_of(std::string_view device_name) {
  for (const Link& link : links()) {
    if (device_name.find(link.device) != std::string_view::npos) return &link;
  }
  return nullptr;
}

HostLink host_link_of(std::string_view device_name) {
  const GpuModel* model = find_gpu(device_name);
  // Rates of large pinned copies: 12 of 16 GB/s in many recordings of PCIe 3.0; 54.7 of 64 GB/s on
  // an H100 (docs/performance.md).
  switch (model ? model->pcie_generation : 3) {
    case 5:
      return {"PCIe 5.0 x16", 54e9};
    case 4:
      return {"PCIe 4.0 x16", 25e9};
    default:
      return {"PCIe 3.0 x16", 12e9};
  }
}

}  // namespace headway::analyzer
