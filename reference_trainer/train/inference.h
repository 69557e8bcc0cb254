// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "reference_trainer/train/build_model.h"
#include "reference_trainer/train/forward_run.h"
#include "reference_trainer/train/parameters.h"
#include "reference_trainer/train/trainer.h"

namespace headway::trainer {

/// A trained model that runs forward: batch norms folded, epilogues fused, in the number format of
/// infer_precision. Batches are those of training, without augmentation. `settings.threads` must be
/// resolved. `parameters`: by the names of the training graph; empty where the device does not
/// compute. Throws Error on bad data, and on parameters that do not belong to this model.
class Inference {
 public:
  Inference(const Settings& settings, Device& device, const TrainingData& data,
            ParameterSet parameters, const MakeLoader& make_loader = {});

  /// Runs `steps` batches (0: all of the test set), then, with `eval`, the test set in this format
  /// and in FP32.
  RunResult run(const TrainerHooks& hooks);

  const Graph& graph() const { return model_.graph; }
  const CompiledGraph& compiled() const { return *compiled_; }
  std::int64_t steps() const { return steps_; }

 private:
  Ranges calibrate(const Model& plain, const ParameterSet& parameters);
  void launch(std::int64_t step);
  void finish_step(std::int64_t step, RunResult& result);
  /// Evaluates the plain graph in FP32 on the same test samples.
  EvaluationResult evaluate_plain(const TrainerHooks& hooks);

  const Settings settings_;
  Device& device_;
  const TrainingData data_;
  ParameterSet parameters_;
  std::int64_t steps_ = 0;
  StreamId compute_;
  Model model_;
  std::unique_ptr<CompiledGraph> compiled_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<BatchSource> loader_;
  std::unique_ptr<InputFeed> feed_;
  std::vector<Memory> figures_;  ///< by step modulo their number
  ForwardRun run_;
};

/// The parameters that inference with `settings` starts from: those of the checkpoint, or of a
/// training of train_steps steps on this device; none where the device does not compute.
ParameterSet parameters_for_inference(const Settings& settings, Device& device,
                                      const TrainingData& data, const TrainerHooks& hooks);

}  // namespace headway::trainer
