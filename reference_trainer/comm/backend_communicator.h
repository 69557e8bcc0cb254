// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "reference_trainer/comm/backend.h"
#include "reference_trainer/comm/communicator.h"
#include "reference_trainer/nvtx/nccl_ranges.h"

namespace headway::trainer {

/// Common base of the communicators of devices that really compute: the ranks meet through a
/// backend. `backend` must outlive it.
class BackendCommunicator : public Communicator {
 public:
  BackendCommunicator(CommBackend& backend, const LinkModel& links)
      : backend_(backend), links_(links) {}

  int rank() const override { return backend_.rank(); }
  int size() const override { return backend_.size(); }
  const LinkModel& links() const override { return links_; }
  std::int64_t stop_before(std::int64_t step) override { return backend_.stop_before(step); }

 protected:
  CommBackend& backend() const { return backend_; }
  /// The number of ranks in this rank's group of the scope, and this rank's place among them.
  int members(Scope scope) const;
  int place(Scope scope) const;
  /// The same number for all members of a group; each group has its own.
  std::uint64_t communicator_id(Scope scope) const;
  /// Publishes the groups that contain this rank.
  void describe_groups() const;
  /// What traces record about a call that has begun on the calling thread.
  nvtx::CollectiveRange range_of(const Collective& collective) const;
  Kernel::Tag tag_of(const Collective& collective) const;
  /// Carries out the collective or message in host memory at `data`. Takes at least as long as the
  /// modelled links would.
  void run(const Collective& collective, void* data) const;

 private:
  CommBackend& backend_;
  const LinkModel links_;
};

}  // namespace headway::trainer
