// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "reference_trainer/train/build_model.h"
#include "reference_trainer/train/forward_run.h"
#include "reference_trainer/train/parameters.h"
#include "reference_trainer/train/trainer.h"

namespace headway::trainer {

/// A transformer that continues texts: each step makes one token for each sequence of a batch,
/// settings.generate tokens after each prompt. With a cache, the first step processes the prompts
/// and keeps keys and values; each later step processes one token. Without a cache, every step
/// processes all tokens so far. A simulated device counts only these tokens; a device that computes
/// always processes the model's full length, as programs of fixed shapes do. The most likely token
/// is taken. `settings.threads` must be resolved. Throws Error on bad data, and on parameters that
/// do not belong to this model.
class Generation {
 public:
  /// `parameters`: as for Inference.
  Generation(const Settings& settings, Device& device, const TrainingData& data,
             const ParameterSet& parameters, const MakeLoader& make_loader = {});

  /// Makes `steps` tokens (0: those of one batch of prompts). RunResult::tokens has them where the
  /// device computes.
  RunResult run(const TrainerHooks& hooks);

  std::int64_t steps() const { return steps_; }

 private:
  /// A compiled graph that is ready to be launched.
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
  /// Position, in its sequence, of the last token that is known before the step.
  std::int64_t position(std::int64_t step) const {
    return settings_.sequence - settings_.generate + step % settings_.generate - 1;
  }

  const Settings settings_;
  Device& device_;
  std::int64_t steps_ = 0;
  StreamId compute_;
  Part token_;   ///< for steps after a prompt's first; without a cache for every step
  Part prompt_;  ///< for a prompt's first step
  std::unique_ptr<BatchSource> loader_;
  std::unique_ptr<InputFeed> feed_;
  std::vector<Memory> tokens_;  ///< by step modulo their number
  ForwardRun run_;
};

}  // namespace headway::trainer
