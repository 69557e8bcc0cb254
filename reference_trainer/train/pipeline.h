// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "reference_trainer/comm/communicator.h"
#include "reference_trainer/devices/device.h"
#include "reference_trainer/switches/settings.h"
#include "reference_trainer/train/stage_plan.h"

namespace headway::trainer {

/// One pass of one micro batch through the blocks of a stage.
struct PipelinePass {
  bool backward = false;
  int micro_batch = 0;
};

/// The passes of a stage in a step, in their order. GPipe: all forward passes, then all backward
/// passes. 1F1B: one forward pass for each later stage, then one forward and one backward pass in
/// turns, which keeps fewer activations.
std::vector<PipelinePass> passes_of(PipelineSchedule schedule, int stage, int stages,
                                    int micro_batches);
/// The largest number of micro batches whose activations the stage keeps at once.
int most_under_way(PipelineSchedule schedule, int stage, int stages, int micro_batches);

/// Sends activations to the next stage and gradients to the previous stage, each on a separate
/// stream, as messages between two ranks. A stage computes when its message has arrived, and sends
/// when it has computed.
class PipelineLinks {
 public:
  /// The communicator must outlive it; rank i is stage i.
  PipelineLinks(Device& device, StreamId compute, Communicator& communicator,
                const StagePlan& plan);

  void before(bool backward, std::int64_t batch);
  void after(bool backward, std::int64_t batch);

 private:
  struct Link {
    StreamId stream;
    std::unique_ptr<PreparedCollective> message;
  };
  std::unique_ptr<Link> link(const char* name, CollectiveKind kind, int peer, std::int64_t elements,
                             bool half);

  Device& device_;
  const StreamId compute_;
  Communicator& communicator_;
  std::array<std::unique_ptr<Link>, 2> from_;  ///< forward, backward; null: none
  std::array<std::unique_ptr<Link>, 2> to_;
};

}  // namespace headway::trainer
