// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/comm/communicator.h"
#include "reference_trainer/devices/sim/sim_device.h"

namespace headway::trainer::sim {

/// Collectives of a simulated rank: only arrivals and durations, no data.
class SimCommunicator final : public Communicator {
 public:
  explicit SimCommunicator(SimDevice& device) : device_(device) {}

  int rank() const override { return device_.options().rank; }
  int size() const override { return device_.world().ranks(); }
  const LinkModel& links() const override { return device_.world().links(); }
  std::int64_t stop_before(std::int64_t step) override { return device_.world().stop_before(step); }
  std::unique_ptr<PreparedCollective> prepare(Collective collective) override;
  void enqueue(StreamId stream, const PreparedCollective& collective, std::int64_t batch) override;

 private:
  SimDevice& device_;
};

}  // namespace headway::trainer::sim
