// SPDX-License-Identifier: MIT
#include "reference_trainer/app/machine.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "common/text.h"
#include "reference_trainer/comm/host_communicator.h"
#include "reference_trainer/comm/ranks.h"
#include "reference_trainer/devices/cuda/open.h"

namespace headway::trainer {
namespace {

CudaCollectives collectives_by(const Settings& settings) {
  // Emulated links, too, are the backend's.
  const bool emulated =
      settings.node_gb_per_s > 0 || settings.network_gb_per_s > 0 || settings.network_us > 0;
  if (settings.comm == CommKind::kNccl) return CudaCollectives::kNccl;
  return settings.comm == CommKind::kAuto && !emulated ? CudaCollectives::kAny
                                                       : CudaCollectives::kHost;
}

}  // namespace

Machine open_machine(const Settings& settings, const RankParts& rank, bool on_host) {
  const bool spin = settings.device_schedule == DeviceSchedule::kSpin;
  Machine machine;
  if (settings.device == DeviceKind::kCuda && !on_host) {
    machine.device = open_cuda_device({spin, rank.local_rank});
    if (!rank.backend) return machine;
    std::string note;
    const auto timeout =
        std::chrono::nanoseconds(static_cast<std::int64_t>(settings.comm_timeout_s * 1e9));
    machine.communicator =
        connect_gpus(*machine.device, *rank.backend,
                     {emulated_links(settings), collectives_by(settings), timeout}, note);
    if (!note.empty() && rank.backend->rank() == 0)
      fmt::print(stderr, "headway-train: {}\n", escape_terminal(note));
    return machine;
  }
  auto host = std::make_unique<HostDevice>(HostDeviceOptions{static_cast<int>(settings.threads),
                                                             settings.link_mb_per_s * 1e6,
                                                             settings.memory_gb_per_s * 1e9, spin});
  if (rank.backend)
    machine.communicator =
        std::make_unique<HostCommunicator>(*host, *rank.backend, emulated_links(settings));
  machine.device = std::move(host);
  return machine;
}

}  // namespace headway::trainer
