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

// machine_checks.cc: what makes training slow on a healthy program.
Finding check_processors(const System& system);
Finding check_governor(const System& system);
Finding check_memory_limit(const System& system);
Finding check_dev_shm(const System& system);
Finding check_storage(const System& system);
Finding check_rdma(const System& system);
Finding check_nccl(const System& system);

}  // namespace headway::doctor
