// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace headway::analyzer {

/// True for the name of a kernel that moves data between ranks, by the mechanism it belongs to: NCCL
/// of all generations and RCCL, NVSHMEM and what is built on it, MSCCL++, DeepEP, the one-shot and
/// two-shot all-reduces of inference engines, symmetric memory, user buffers.
bool names_communication_kernel(std::string_view name);

/// True for the name of a host range or op that communicates between ranks: "c10d::allreduce_",
/// "gloo:all_reduce", "nccl:broadcast", "MPI_Allreduce".
bool names_communication_call(std::string_view name);

/// Which device ops are communication kernels, decided once per op: by the op's kind, by the trace's
/// collectives, else by the kernel's name, looked at once per distinct name. Peer copies are copies
/// here. Immutable, so thread-safe; 1 bit an op.
class CommunicationOps {
 public:
  explicit CommunicationOps(const trace::Trace& trace);
  bool operator[](trace::DeviceOpId op) const { return is_[op.value]; }

 private:
  std::vector<bool> is_;
};

}  // namespace headway::analyzer
