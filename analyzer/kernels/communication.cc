// SPDX-License-Identifier: MIT
#include "analyzer/kernels/communication.h"

#include <algorithm>
#include <array>

namespace headway::analyzer {
namespace {

using namespace trace;

// Parts of kernel names, as the public sources of each library spell them.
constexpr auto kKernelParts = std::to_array<std::string_view>({
    "ncclKernel",
    "ncclDevKernel",
    "ncclSymk",
    "nccl::",  // NCCL 2.0 to 2.28, RCCL
    "rcclKernel",
    "mscclKernel",
    "mscclpp::",
    "mscclpp_",  // RCCL, MSCCL, MSCCL++
    "nvshmem",
    "rocshmem",              // and libraries made with them
    "deep_ep::",             // DeepEP: dispatch, combine
    "cross_device_reduce_",  // vLLM, SGLang: 1stage, 2stage
    "oneShotAllReduce",
    "twoShotAllReduce",
    "AllReduceKernel",  // TensorRT-LLM
    "allReduceKernel",
    "lamportStyleOneShot",
    "allreduce_fusion_kernel",
    "one_shot_all_reduce",
    "two_shot_all_reduce",
    "one_shot_all_to_all",
    "all_gather_kernel",
    "reduce_scatter_kernel",
    "multimem_all_reduce",
    "multimem_one_shot",
    "multimem_all_gather",
    "symmetric_memory::barrier",  // PyTorch's symmetric memory, FBGEMM
    "userbuffers_",               // Transformer Engine
    "quickreduce",
    "quick_reduce",
    "allreduce_prototype",  // quick reduce
});

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

bool names_communication_kernel(std::string_view name) {
  return std::any_of(kKernelParts.begin(), kKernelParts.end(), [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

bool names_communication_call(std::string_view name) {
  return std::any_of(kCallPrefixes.begin(), kCallPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

CommunicationOps::CommunicationOps(const Trace& trace) : is_(trace.device_ops.size(), false) {
  enum class Known : std::uint8_t { kUnseen, kNo, kYes };
  std::vector<Known> of_name(trace.strings.size(), Known::kUnseen);
  const DeviceOps& ops = trace.device_ops;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (ops.kind[i] == DeviceOpKind::kCommunication) is_[i] = true;
    if (ops.kind[i] != DeviceOpKind::kKernel || ops.name[i].value >= of_name.size()) continue;
    Known& known = of_name[ops.name[i].value];
    if (known == Known::kUnseen) {
      known = names_communication_kernel(trace.strings[ops.name[i]]) ? Known::kYes : Known::kNo;
    }
    is_[i] = known == Known::kYes;
  }
  for (const Collective& collective : trace.collectives) {
    if (!collective.op.valid() || collective.op.value >= ops.size()) continue;
    if (ops.kind[collective.op.value] == DeviceOpKind::kKernel) is_[collective.op.value] = true;
  }
}

}  // namespace headway::analyzer
