// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "reference_trainer/comm/backend_communicator.h"
#include "reference_trainer/devices/cuda/cuda_device.h"

namespace headway::trainer {

/// Collectives between GPUs through host memory: a copy to pinned memory, the backend's exchange as
/// a host function in stream order, and a copy back. For ranks that share a GPU or cannot use NCCL.
/// `device` and `backend` must outlive it.
class StagedCommunicator final : public BackendCommunicator {
 public:
  StagedCommunicator(CudaDevice& device, CommBackend& backend, const LinkModel& links);

  std::unique_ptr<PreparedCollective> prepare(Collective collective) override;
  void enqueue(StreamId stream, const PreparedCollective& collective, std::int64_t batch) override;

 private:
  CudaDevice& device_;
  Memory staging_;  ///< as large as the largest collective; all run on one stream, so one is enough
};

}  // namespace headway::trainer
