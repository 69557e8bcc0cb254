// SPDX-License-Identifier: MIT
// Decides whether the ranks' GPUs exchange through NCCL or host memory. All ranks reach the same
// decision.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "reference_trainer/devices/cuda/nccl_communicator.h"
#include "reference_trainer/devices/cuda/open.h"
#include "reference_trainer/devices/cuda/staged_communicator.h"

namespace headway::trainer {
namespace {

/// The data that each rank sends to the others. GPUs of different hosts may have the same bus
/// address, so the host is included.
struct Told {
  std::array<char, 64> host{};
  int domain = 0;
  int bus = 0;
  int device = 0;
  std::array<char, 256> why_not{};  ///< why this rank cannot use NCCL
};

Told tell(const CudaDevice& device) {
  Told mine;
  const cuda::Context& context = *device.libraries().context;
  ::gethostname(mine.host.data(), mine.host.size() - 1);
  mine.domain = context.attribute(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
  mine.bus = context.attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
  mine.device = context.attribute(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
  try {
    const cuda::Nccl library;
  } catch (const Error& error) {
    std::strncpy(mine.why_not.data(), error.what(), mine.why_not.size() - 1);
  }
  return mine;
}

/// The reason why NCCL cannot be used; empty where it can.
std::string why_not_nccl(const CudaDevice& device, CommBackend& backend) {
  std::vector<Told> all(static_cast<std::size_t>(backend.size()));
  all[static_cast<std::size_t>(backend.rank())] = tell(device);
  backend.all_gather(std::as_writable_bytes(std::span(all)));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const Told& each = all[rank];
    if (each.why_not[0]) return each.why_not.data();
    for (std::size_t other = 0; other < rank; ++other)
      if (each.host == all[other].host && each.domain == all[other].domain &&
          each.bus == all[other].bus && each.device == all[other].device)
        return fmt::format("ranks {} and {} share a GPU", other, rank);
  }
  return {};
}

}  // namespace

std::unique_ptr<Communicator> connect_gpus(Device& opened, CommBackend& backend,
                                           const GpuRanks& ranks, std::string& note) {
  auto& device = static_cast<CudaDevice&>(opened);
  if (ranks.by != CudaCollectives::kHost) {
    const std::string why = why_not_nccl(device, backend);
    if (why.empty())
      return std::make_unique<NcclCommunicator>(device, backend, ranks.links, ranks.timeout);
    if (ranks.by == CudaCollectives::kNccl)
      fail_input(
          "comm: NCCL cannot be used: {}. Use --comm shm, which exchanges through host memory, or "
          "give each rank a GPU of its own.",
          why);
    note = fmt::format("gradients are exchanged through host memory ({}): {}", backend.name(), why);
  }
  return std::make_unique<StagedCommunicator>(device, backend, ranks.links);
}

}  // namespace headway::trainer
