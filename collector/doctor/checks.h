// SPDX-License-Identifier: MIT
#pragma once

#include "collector/doctor/check.h"

namespace headway::doctor {

// recording_checks.cc: what recording needs.
Finding check_library(const System& system);
Finding check_nvtx(const System& system);
Finding check_other_profilers(const System& system);
Finding check_shared_memory(const System& system);
Finding check_descriptors(const System& system);
Finding check_clock(const System& system);
Finding check_output(const System& system);

// cuda_checks.cc
Finding check_driver(const System& system);
Finding check_devices(const System& system);
Finding check_cupti(const System& system);
Finding check_counters(const System& system);

// machine_checks.cc: settings of the machine that make training slow.
Finding check_processors(const System& system);
Finding check_governor(const System& system);
Finding check_memory_limit(const System& system);
Finding check_dev_shm(const System& system);
Finding check_storage(const System& system);

// fabric_checks.cc: adapters between nodes.
Finding check_rdma(const System& system);
Finding check_gpu_adapters(const System& system);
Finding check_ports(const System& system);
Finding check_gids(const System& system);
Finding check_memlock(const System& system);

// pci_checks.cc: the connections between devices, and between devices and processors.
Finding check_acs(const System& system);
Finding check_iommu(const System& system);
Finding check_affinity(const System& system);
Finding check_nvlink(const System& system);

// nccl_checks.cc
Finding check_nccl(const System& system);
Finding check_topology_file(const System& system);

}  // namespace headway::doctor
