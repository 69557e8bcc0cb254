// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "reference_trainer/train/build_model.h"
#include "reference_trainer/train/forward_run.h"
#include "reference_trainer/train/parameters.h"
#include "reference_trainer/train/trainer.h"

namespace headway::trainer {

/// A transformer that continues texts, a token of each sequence of a batch a step (settings.generate of them after each prompt).
/// With a cache the first step goes over the prompts and keeps keys and values; each later one goes over one token. Without one,
/// every step goes over all tokens so far: on a simulated device as many as there are, on one that computes always over the
/// length of the model, as programs of fixed shapes do. The likeliest token is taken. `settings.threads` must be resolved. Throws
/// Error on bad data and parameters that are not this model's.
class Generation {
 public:
  /// `parameters` as of Inference.
  Generation(const Settings& settings, Device& device, const TrainingData& data,
             const ParameterSet& parameters, const MakeLoader& make_loader = {});

  /// `steps` tokens (0: those of one batch of prompts). RunResult::tokens has them where the device computes.
  RunResult run(const TrainerHooks& hooks);

  std::int64_t steps() const { return steps_; }

 private:
  /// A graph that is ready to be launched.
  struct Part {
    Model model;
    std::unique_ptr<CompiledGraph> compiled;
    std::unique_ptr<Executor> executor;
  };
  void add_part(Part& part, TransformerPart what, const ParameterSet& parameters,
                std::int64_t first_op, const CompiledGraph* share_with);
  ModelShare share_of(TransformerPart what, const Graph& graph) const;
  void launch(std::int64_t step);
  void read_tokens(std::int64_t step);
  void finish_step(std::int64_t step, RunResult& result);
  /// In its sequence, of the last token that is known before the step.
  std::int64_t position(std::int64_t step) const {
    return settings_.sequence - settings_.generate + step % settings_.generate - 1;
  }

  const Settings settings_;
  Device& device_;
  std::int64_t steps_ = 0;
  StreamId compute_;
  Part token_;   ///< of every step but the first after a prompt; without a cache of every step
  Part prompt_;  ///< of the first
  std::unique_ptr<BatchSource> loader_;
  std::unique_ptr<InputFeed> feed_;
  std::vector<Memory> tokens_;  ///< by step modulo their number
  ForwardRun run_;
};

}  // namespace headway::trainer
