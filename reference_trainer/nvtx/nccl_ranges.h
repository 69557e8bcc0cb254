// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "reference_trainer/nvtx/emitter.h"

/// What NCCL says about collectives through NVTX, said by programs that exchange without it: a domain
/// "NCCL", a range per call with the name of NCCL's function, and payloads whose fields have NCCL's
/// names. Tools that match the collectives of ranks find ours by it.
namespace headway::trainer::nvtx {

/// Says that a communicator of `ranks` exists. All members use the same `communicator`.
void describe_communicator(std::uint64_t communicator, int ranks, int rank);

/// The calling thread's range around the call that enqueues a collective. `function`: interned,
/// "ncclAllReduce"; `bytes`: as NCCL counts them, per rank for all-gather and reduce-scatter.
class CollectiveRange {
 public:
  CollectiveRange(const std::string& function, std::uint64_t communicator, std::int64_t bytes);
  ~CollectiveRange();
  CollectiveRange(const CollectiveRange&) = delete;
  CollectiveRange& operator=(const CollectiveRange&) = delete;

 private:
  bool open_;
};

}  // namespace headway::trainer::nvtx
