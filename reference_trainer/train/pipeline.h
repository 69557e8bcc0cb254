// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "reference_trainer/comm/communicator.h"
#include "reference_trainer/devices/device.h"
#include "reference_trainer/passes/fold_batch_norm.h"
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
///
/// On a device that computes, each link has message buffers. A pass begins with a copy from the
/// buffer of its message, and ends with a copy to a buffer, so messages arrive and leave while the
/// device computes. With a buffer for each micro batch nothing waits for a free one: a buffer's next
/// message depends on the one before it. With fewer, one at least, messages and passes wait for
/// free buffers; both schedules still end (docs/design/0055-parallelism.md).
class PipelineLinks {
 public:
  /// `compiled` and the communicator must outlive it; rank i is stage i. `buffers`: of each link;
  /// 0: as many as micro batches.
  PipelineLinks(Device& device, StreamId compute, Communicator& communicator,
                const CompiledGraph& compiled, const StagePlan& plan, int micro_batches,
                int buffers);
  /// Waits for the device, because enqueued work uses its kernels.
  ~PipelineLinks();
  PipelineLinks(const PipelineLinks&) = delete;
  PipelineLinks& operator=(const PipelineLinks&) = delete;

  /// To be called before and after the launches of a pass, with their arguments.
  void before(bool backward, const LaunchArguments& arguments);
  void after(bool backward, const LaunchArguments& arguments);

 private:
  struct Slot {
    Memory buffer;  ///< none where the device does not compute
    std::unique_ptr<PreparedCollective> message;
    /// By copy of kept activations: to the buffer or from it.
    std::vector<std::unique_ptr<Kernel>> copies;
    Event free;  ///< when the last work that uses the buffer is done
  };
  struct Link {
    StreamId stream;
    std::vector<kernels::GradientTensor> tensors;  ///< of the stage, by copy of kept activations
    std::vector<Slot> slots;
    std::size_t next = 0;
  };
  /// What the stage sends or receives in one direction.
  struct End {
    const char* stream;
    const char* text;
    Phase phase;
    CollectiveKind kind;
    int peer;
    std::int64_t elements;
    Border border;
  };
  std::unique_ptr<Link> link(const End& end, const CompiledGraph& compiled, const StagePlan& plan);
  void add_slot(const End& end, const StagePlan& plan, Link& link);
  /// Makes `stream` wait for the slot's last use, where buffers are used again within a step.
  void wait_until_free(StreamId stream, const Slot& slot);
  static Slot& next_slot(Link& link);

  Device& device_;
  const StreamId compute_;
  Communicator& communicator_;
  const bool computes_;
  const int buffers_;
  const bool waits_;                           ///< buffers are used again within a step
  std::array<std::unique_ptr<Link>, 2> from_;  ///< forward, backward; null: none
  std::array<std::unique_ptr<Link>, 2> to_;
};

/// The parameters of all stages, on the last stage; the others send theirs and get an empty set.
/// All stages must call it, on a device that computes, after their last step. Blocks.
ParameterSet gather_parameters(Device& device, StreamId stream, Communicator& communicator,
                               const Graph& graph, const CompiledGraph& compiled,
                               const StagePlan& plan);

}  // namespace headway::trainer
