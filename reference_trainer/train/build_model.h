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

/// The forward graph that `settings` ask for, with its passes. `rank`: the rank whose part of
/// shared layers is built.
Model build_forward_model(const Settings& settings, const TrainingData& data, bool training,
                          int rank = 0);

/// The forward graph of inference in FP32, with batch norms folded and epilogues fused as
/// `settings` say. Adds the parameters that these passes derive to `parameters`.
Model build_inference_model(const Settings& settings, const TrainingData& data,
                            ParameterSet& parameters);
/// The part `part` of a transformer that generates tokens, in the format of infer_precision.
Model build_generation_part(const Settings& settings, TransformerPart part);
/// Converts the model to the format of infer_precision. `ranges`: see quantise().
void lower_precision(Model& model, const Settings& settings, const Ranges& ranges,
                     ParameterSet& parameters, int most_weight = 127);

/// (parameter, its gradient).
using GradientPairs = std::vector<std::pair<ValueId, ValueId>>;

/// The graph of a whole step: forward, gradients, casts, optimizer, clusters. `gradients` receives
/// the pairs that the optimizer reads, in the order of the parameters.
Model build_training_model(const Settings& settings, const TrainingData& data,
                           GradientPairs& gradients, int rank = 0);

/// The optimizer, with "auto" resolved: SGD for image networks, Adam for text.
OptimizerKind optimizer_of(const Settings& settings);
/// The learning rate, with 0 resolved to a rate that trains the model well with this optimizer.
float learning_rate_of(const Settings& settings);
/// The word for samples: "images", "sequences" or, where text is generated, "tokens".
const char* samples_word(const Settings& settings);

}  // namespace headway::trainer
