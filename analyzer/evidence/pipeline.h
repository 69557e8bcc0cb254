// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/evidence/rule.h"
#include "analyzer/ranks/collectives.h"

namespace headway::analyzer {

/// One rank of a pipeline. Times per steady step.
struct PipelineStage {
  std::int32_t rank = 0;
  std::int32_t before =
      -1;  ///< rank from which its forward pass gets activations; -1: it is the first stage
  std::int32_t after = -1;   ///< rank to which it sends activations; -1: it is the last stage
  double micro_batches = 0;  ///< per step; equals the messages to (and from) one neighbour
  DurationNs compute;        ///< without the optimizer
  /// Exposed communication and waiting. Only stretches in which some communication ends count,
  /// because the next op may have waited for it. (A message that is not needed yet is also exposed
  /// in the gap between two kernels.)
  DurationNs idle;
};

/// Stages of a pipeline: ranks that send activations to a neighbour and receive as many gradients
/// from it.
struct Pipeline {
  std::vector<PipelineStage> stages;  ///< in order if `whole`; else the stages found, in any order
  bool whole = false;                 ///< all stages are known: a first one, a last one, and no gap
  double micro_batches = 0;

  /// Least idle share of a step if all p stages cost the same: (p - 1) / (m + p - 1).
  double least_bubble() const {
    const double others = static_cast<double>(stages.size()) - 1;
    return others / (micro_batches + others);
  }
  /// Stage with the most compute.
  const PipelineStage& busiest() const;
  DurationNs mean_compute() const;
};

/// A message of a rank in a steady step.
struct StepMessage {
  std::int64_t step = 0;
  TimeNs launch;
  std::int32_t peer = -1;
  bool sent = false;
};

/// The stage of one rank, from its messages in `steps` steady steps, in the order of its host. A
/// neighbour is a rank with as many messages sent as received; the one that gets a message before
/// it sends one is the next stage. No stage for a ring (of attention, of halos), which sends to one
/// rank and receives from another.
PipelineStage stage_of_messages(const std::vector<StepMessage>& messages, std::int64_t steps,
                                std::int32_t rank);

/// Why the number of micro batches cannot be changed: there is no pipeline, or stages are missing.
/// Empty if it can.
std::string_view why_not_whole(const Pipeline& pipeline);

/// The pipeline of the job if `context.job` is set, else of the ranks in the trace. No stages if
/// there is none.
Pipeline find_pipeline(const RuleContext& context);

}  // namespace headway::analyzer
