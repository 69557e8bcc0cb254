// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "reference_trainer/comm/backend.h"
#include "reference_trainer/comm/communicator.h"

namespace headway::trainer {

/// Collectives of a device that computes: each runs on its stream's thread through a backend, and
/// takes at least as long as the links would. `device` and `backend` must outlive it.
class HostCommunicator final : public Communicator {
 public:
  HostCommunicator(Device& device, CommBackend& backend, const LinkModel& links);

  int rank() const override { return backend_.rank(); }
  int size() const override { return backend_.size(); }
  const LinkModel& links() const override { return links_; }
  std::int64_t stop_before(std::int64_t step) override { return backend_.stop_before(step); }
  std::unique_ptr<PreparedCollective> prepare(Collective collective) override;
  void enqueue(StreamId stream, const PreparedCollective& collective, std::int64_t batch) override;

 private:
  struct Prepared;
  int members(Scope scope) const;
  std::uint64_t communicator_id(Scope scope) const;
  void run(const Collective& collective);

  Device& device_;
  CommBackend& backend_;
  const LinkModel links_;
};

}  // namespace headway::trainer
