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
      -1;  ///< rank that its forward pass gets activations from; -1: it is the first stage
  std::int32_t after = -1;   ///< rank that it sends them to; -1: it is the last one
  double micro_batches = 0;  ///< per step: messages to, and from, one neighbour
  DurationNs compute;        ///< but for the optimizer
  /// Communication and waiting for it that no compute covers, in stretches in which some of it ends: what goes on after them
  /// may have waited for it. (Between two kernels a message that nobody needs yet is all that runs, too.)
  DurationNs idle;
};

/// Stages of a pipeline: ranks that send one neighbour activations and get as many gradients back.
struct Pipeline {
  std::vector<PipelineStage>
      stages;          ///< from the first one on, as far as the ranks at hand show them
  bool whole = false;  ///< all stages are known: a first one, a last one, and no gap
  double micro_batches = 0;

  /// Of a step, what stages of equal cost are idle at least: (p - 1) / (m + p - 1).
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

/// The neighbours of one rank, from its messages in `steps` steady steps, in the order of its host: those with which as many
/// messages come as go. The one that messages go to first is behind it. A ring (of attention, of halos) sends to one and
/// receives from the other.
PipelineStage stage_of_messages(const std::vector<StepMessage>& messages, std::int64_t steps,
                                std::int32_t rank);

/// Why its micro batches cannot be cut otherwise: there is none, or not all of it was recorded. Empty: they can.
std::string_view why_not_whole(const Pipeline& pipeline);

/// Of the job where all its ranks are known, else of the ranks in the trace. Without stages: there is none.
Pipeline find_pipeline(const RuleContext& context);

}  // namespace headway::analyzer
