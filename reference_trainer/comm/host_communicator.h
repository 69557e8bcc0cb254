// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/comm/backend_communicator.h"
#include "reference_trainer/devices/host/host_device.h"

namespace headway::trainer {

/// Collectives of the host device: each runs on its stream's thread. `device` and `backend` must outlive it.
class HostCommunicator final : public BackendCommunicator {
 public:
  HostCommunicator(HostDevice& device, CommBackend& backend, const LinkModel& links);

  std::unique_ptr<PreparedCollective> prepare(Collective collective) override;
  void enqueue(StreamId stream, const PreparedCollective& collective, std::int64_t batch) override;

 private:
  /// Carries out the collective, with its own part.
  void run_with_part(const Collective& collective) const;

  HostDevice& device_;
};

}  // namespace headway::trainer
