// SPDX-License-Identifier: MIT
#pragma once

#include <utility>
#include <vector>

#include "reference_trainer/models/resnet.h"
#include "reference_trainer/models/transformer.h"
#include "reference_trainer/passes/quantise.h"
#include "reference_trainer/switches/settings.h"

namespace headway::trainer {

struct TrainingData;  // train/trainer.h

/// The forward graph for `settings`, after the passes that they select. `rank`: where ranks split a
/// layer, the part of this rank is built.
Model build_forward_model(const Settings& settings, const TrainingData& data, bool training,
                          int rank = 0);

/// The FP32 forward graph for inference. `settings` decide whether batch norms are folded and
/// epilogues fused. Adds the parameters that these passes create to `parameters`.
Model build_inference_model(const Settings& settings, const TrainingData& data,
                            ParameterSet& parameters);
/// One part of a transformer that generates tokens, in the format of `infer_precision`.
Model build_generation_part(const Settings& settings, TransformerPart part);
/// Converts the model to the format of `infer_precision`. `ranges`, `most_weight`: see quantise().
void lower_precision(Model& model, const Settings& settings, const Ranges& ranges,
                     ParameterSet& parameters, int most_weight = 127);

/// Pairs (parameter, its gradient).
using GradientPairs = std::vector<std::pair<ValueId, ValueId>>;

/// The graph of a whole step: forward and backward ops, casts, optimizer; with the graph compiler,
/// elementwise ops are fused. `gradients` receives the pairs that the optimizer reads, in the order of
/// the parameters.
Model build_training_model(const Settings& settings, const TrainingData& data,
                           GradientPairs& gradients, int rank = 0);

/// The optimizer, with "auto" resolved: SGD for image networks, Adam for text.
OptimizerKind optimizer_of(const Settings& settings);
/// The learning rate; a setting of 0 becomes a rate that suits the model and the optimizer.
float learning_rate_of(const Settings& settings);
/// What to call samples: "images", "sequences" or, if the run generates text, "tokens".
const char* samples_word(const Settings& settings);

}  // namespace headway::trainer
