// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "reference_trainer/nvtx/emitter.h"

/// Publishes the NVTX events of NCCL for programs that exchange without NCCL: a domain "NCCL", a
/// range per call with the name of NCCL's function, and payloads whose fields have NCCL's names.
/// Tools that match the collectives of ranks then find ours.
namespace headway::trainer::nvtx {

/// Announces a communicator of `ranks` ranks. All members use the same `communicator`.
void describe_communicator(std::uint64_t communicator, int ranks, int rank);

/// The calling thread's range around the call that enqueues a collective. `function`: interned,
/// "ncclAllReduce"; `bytes`: as NCCL counts them, per rank for all-gather and reduce-scatter;
/// `peer`: the other end of a send or receive, as a rank of the communicator, -1 for a collective.
class CollectiveRange {
 public:
  CollectiveRange(const std::string& function, std::uint64_t communicator, std::int64_t bytes,
                  int peer = -1);
  ~CollectiveRange();
  CollectiveRange(const CollectiveRange&) = delete;
  CollectiveRange& operator=(const CollectiveRange&) = delete;

 private:
  bool open_;
};

}  // namespace headway::trainer::nvtx
