// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/kernels/families.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// True for the name of a host range or op that communicates between ranks: "c10d::allreduce_",
/// "gloo:all_reduce", "nccl:broadcast", "MPI_Allreduce".
bool names_communication_call(std::string_view name);

/// Which device ops are communication kernels, decided once per op: by the op's kind, by the trace's
/// collectives, else by the mechanism that the kernel's name shows (families.h). Peer copies are
/// copies here. Immutable, so thread-safe; 1 bit an op.
class CommunicationOps {
 public:
  CommunicationOps(const trace::Trace& trace, const KernelNames& kernels);
  bool operator[](trace::DeviceOpId op) const { return is_[op.value]; }

 private:
  std::vector<bool> is_;
};

}  // namespace headway::analyzer
