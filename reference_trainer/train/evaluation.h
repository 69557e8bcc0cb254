// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/train/trainer.h"

namespace headway::trainer {

/// A compiled model with its parameters; `phase`: the phase of its ops.
struct ReadyModel {
  const Model& model;
  const CompiledGraph& compiled;
  Executor& executor;
  Phase phase = Phase::kEvaluation;
};

/// Runs the model over the first eval_samples test samples, inside a range of phase kEvaluation.
EvaluationResult evaluate_ready(const Settings& settings, Device& device, StreamId stream,
                                const TrainingData& data, const ReadyModel& ready,
                                const TrainerHooks& hooks);

}  // namespace headway::trainer
