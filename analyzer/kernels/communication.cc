// SPDX-License-Identifier: MIT
#include "analyzer/kernels/communication.h"

#include <algorithm>
#include <array>

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr auto kCallPrefixes = std::to_array<std::string_view>({
    "c10d::",
    "c10d_functional::",
    "_c10d_functional::",
    "gloo:",
    "nccl:",
    "mpi:",
    "ucc:",
    "xccl:",
    "rccl:",
    "hccl:",
    "record_param_comms",
    "MPI_",
    "ncclAll",
    "ncclReduce",
    "ncclBroadcast",
    "ncclBcast",
    "ncclSend",
    "ncclRecv",
    "ncclGroup",
    "horovod",
});

}  // namespace

bool names_communication_call(std::string_view name) {
  return std::any_of(kCallPrefixes.begin(), kCallPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

CommunicationOps::CommunicationOps(const Trace& trace, const KernelNames& kernels)
    : is_(trace.device_ops.size(), false) {
  const DeviceOps& ops = trace.device_ops;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    is_[i] = ops.kind[i] == DeviceOpKind::kCommunication ||
             (ops.kind[i] == DeviceOpKind::kKernel &&
              kernels.of(ops.name[i]).family == KernelFamily::kCommunication);
  }
  for (const Collective& collective : trace.collectives) {
    if (!collective.op.valid() || collective.op.value >= ops.size()) continue;
    if (ops.kind[collective.op.value] == DeviceOpKind::kKernel) is_[collective.op.value] = true;
  }
}

}  // namespace headway::analyzer
