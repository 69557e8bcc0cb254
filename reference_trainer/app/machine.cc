// SPDX-License-Identifier: MIT
#include "reference_trainer/app/machine.h"

#include <fmt/format.h>

#include <cstdio>

#include "common/text.h"
#include "reference_trainer/comm/host_communicator.h"
#include "reference_trainer/comm/ranks.h"
#include "reference_trainer/devices/cuda/open.h"

namespace headway::trainer {
namespace {

CudaCollectives collectives_by(const Settings& settings) {
  if (settings.comm == CommKind::kNccl) return CudaCollectives::kNccl;
  // The backend emulates links, so NCCL cannot be used with them.
  const bool any = settings.comm == CommKind::kAuto && !emulates_links(settings);
  return any ? CudaCollectives::kAny : CudaCollectives::kHost;
}

}  // namespace

Machine open_machine(const Settings& settings, const RankParts& rank, bool on_host) {
  const bool spin = settings.device_schedule == DeviceSchedule::kSpin;
  Machine machine;
  if (settings.device == DeviceKind::kCuda && !on_host) {
    machine.device = open_cuda_device(
        {spin, rank.local_rank, settings.graph_compiler != GraphCompiler::kInterpreted});
    if (!rank.backend) return machine;
    std::string note;
    machine.communicator = connect_gpus(
        *machine.device, *rank.backend,
        {emulated_links(settings), collectives_by(settings), comm_timeout(settings)}, note);
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
