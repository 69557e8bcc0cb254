// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "reference_trainer/comm/backend.h"
#include "reference_trainer/comm/communicator.h"
#include "reference_trainer/devices/device.h"
#include "reference_trainer/switches/settings.h"

namespace headway::trainer {

/// How this process meets the other ranks, and its place among those of this host.
struct RankParts {
  std::unique_ptr<CommBackend> backend;  ///< null: the process trains alone
  int local_rank = 0;
};

/// What a rank computes with. `device` outlives `communicator`.
struct Machine {
  std::unique_ptr<Device> device;
  std::unique_ptr<Communicator> communicator;  ///< null: the process trains alone
};

/// Opens the host device or a GPU, and the connection to the other ranks' devices. Reports on
/// stderr when GPUs cannot use NCCL. `on_host`: never opens a GPU (printing a graph needs none).
/// Throws Error that names what is missing.
Machine open_machine(const Settings& settings, const RankParts& rank, bool on_host);

}  // namespace headway::trainer
