// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "reference_trainer/comm/gradient_sync.h"
#include "reference_trainer/comm/model_exchanges.h"
#include "reference_trainer/comm/parameter_shards.h"
#include "reference_trainer/data/augment.h"
#include "reference_trainer/data/batch_source.h"
#include "reference_trainer/data/box_folder.h"
#include "reference_trainer/data/loader.h"
#include "reference_trainer/data/pairs.h"
#include "reference_trainer/data/source.h"
#include "reference_trainer/data/text.h"
#include "reference_trainer/devices/device.h"
#include "reference_trainer/models/resnet.h"
#include "reference_trainer/switches/settings.h"
#include "reference_trainer/train/executor.h"
#include "reference_trainer/train/expert_load.h"
#include "reference_trainer/train/input_feed.h"
#include "reference_trainer/train/pipeline.h"
#include "reference_trainer/train/run_result.h"

namespace headway::trainer {

/// What the trainer reads its images or its text from.
struct TrainingData {
  SampleSource* train = nullptr;  ///< owned by the caller, as all here, for longer than the trainer
  SampleSource* test = nullptr;   ///< may be null: no evaluation
  int height = 0;                 ///< of the images that the model gets, in pixels
  int width = 0;
  int channels = 1;       ///< 3: pictures
  int canvas_height = 0;  ///< pictures: what they are decoded to
  int canvas_width = 0;
  const PictureSizes* sizes = nullptr;  ///< where the device gets pictures as they are
  int classes = 0;                      ///< labels are 0 to classes - 1
  PixelStatistics statistics;           ///< of the training images, for normalising
  const BoxSet* train_boxes =
      nullptr;  ///< of the same samples as `train`, for the model that finds boxes
  const BoxSet* test_boxes = nullptr;
  const TextSet* train_text = nullptr;  ///< the models of text have these instead
  const TextSet* test_text = nullptr;
  const PairSet* train_pairs = nullptr;  ///< likewise those of translations
  const PairSet* test_pairs = nullptr;
};

/// Boxes of the picture with most of them, in training and testing.
std::int64_t box_places(const TrainingData& data);
/// Training samples, and test samples (0: none).
std::int64_t sample_count(const Settings& settings, const TrainingData& data);
std::int64_t test_count(const Settings& settings, const TrainingData& data);

/// How batches of images come to a device that makes the images itself; none where the loader does.
std::optional<PackedFormat> packed_format(const Settings& settings, const TrainingData& data);

struct BatchesWanted {
  std::int64_t batches = 0;  ///< in the whole run
  int in_use = 4;            ///< that may be out at once
  int rank = 0;              ///< of `ranks` that share the samples
  int ranks = 1;
};
/// Makes the loader of images; empty: a Loader.
using MakeLoader = std::function<std::unique_ptr<BatchSource>(SampleSource&, const LoaderOptions&)>;
std::unique_ptr<BatchSource> open_training_batches(const Settings& settings, Device& device,
                                                   const TrainingData& data,
                                                   const BatchesWanted& wanted,
                                                   const MakeLoader& make_loader = {});
/// Those that cover `samples` test samples, in order, a shorter one last.
std::unique_ptr<BatchSource> open_test_batches(const Settings& settings, Device& device,
                                               const TrainingData& data, std::int64_t samples);

struct TrainerHooks {
  /// After a step's figures became known, in order of steps.
  std::function<void(const StepRecord&)> on_step = [](const StepRecord&) {};
  /// During evaluation: images done, images in all.
  std::function<void(std::int64_t, std::int64_t)> on_evaluation = [](auto, auto) {};
  /// When it becomes true, the run ends in order after the current step.
  const std::atomic<int>* stop = nullptr;
};

/// Steps that `settings` ask for with `samples` training samples.
std::int64_t total_steps(const Settings& settings, std::int64_t samples);

/// What a run uses besides a device and data, where it is not the usual.
struct TrainerParts {
  MakeLoader make_loader;
  /// The other ranks of the run; null: there are none. Must outlive the trainer.
  Communicator* communicator = nullptr;
};

/// One training run: builds the graph, compiles it for the device, and drives it from the calling
/// thread. `settings.threads` must be resolved. Throws Error on bad data, failed ops, or a loss
/// that is no number.
class Trainer {
 public:
  Trainer(const Settings& settings, Device& device, const TrainingData& data,
          const TrainerParts& parts = {});

  /// All steps, and what comes after them; once. Blocks until the device is done.
  RunResult run(const TrainerHooks& hooks);

  const Graph& graph() const { return model_.graph; }
  const CompiledGraph& compiled() const { return *compiled_; }
  std::int64_t steps() const { return steps_; }

 private:
  void initialise_values();
  std::unique_ptr<DeviceImages> device_images() const;
  void add_gradient_sync(const TrainerParts& parts);
  void start_up();
  /// Loads the device code of a new shape, where steps have one now and then.
  void load_code(std::int64_t step);
  /// Of layers that ranks share: whose gradients are no other rank's, and what they exchange.
  void add_model_exchanges(const TrainerParts& parts);
  ModelShare expert_share();
  void add_parameter_shards(const TrainerParts& parts);
  /// What is launched beside the ops of a micro batch's pass in one direction.
  OpHooks hooks_of(Phase phase, int micro_batch, std::int64_t batch);
  /// Whether the run ends here: agreed on by all ranks.
  bool stops_before(std::int64_t step, const TrainerHooks& hooks);
  /// What is emulated of what a program does between steps without a word.
  void pause_before(std::int64_t step);
  /// Launches one step; its figures may become known later (finish_step).
  void take_step(std::int64_t step, RunResult& result);
  void add_pipeline(const TrainerParts& parts);
  void add_input(const TrainerParts& parts);
  /// Forward and backward pass of one micro batch.
  void pass(std::int64_t step, int micro_batch);
  /// All passes of a stage's micro batches.
  void pipeline_passes(std::int64_t step);
  LaunchArguments next_batch(std::int64_t step, int micro_batch);
  void forward(std::int64_t step, int micro_batch, const LaunchArguments& arguments);
  void backward(std::int64_t step, int micro_batch, const LaunchArguments& arguments);
  void give_back_batch(std::int64_t step, const Event& done);
  /// Enqueues (or makes) the copy of a micro batch's loss figures to the host.
  void read_figures(std::int64_t step, int micro_batch);
  /// Waits for the step's end and hands its figures to the hooks.
  void finish_step(std::int64_t step, RunResult& result);
  bool reads_loss(std::int64_t step) const { return step % settings_.loss_every == 0; }

  const Settings settings_;
  Device& device_;
  const TrainingData data_;
  std::int64_t steps_ = 0;
  Communicator* communicator_ = nullptr;
  int rank_ = 0;
  StreamId compute_;
  GradientSync::Pairs gradients_;
  Model model_;
  std::unique_ptr<CompiledGraph> compiled_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<GradientSync> gradient_sync_;  ///< null: one rank, one micro batch
  std::optional<StagePlan> stage_;               ///< none: the rank has the whole model
  std::unique_ptr<PipelineLinks> links_;
  std::unique_ptr<ExpertLoad> expert_load_;    ///< null: no rank has experts of its own
  std::unique_ptr<ModelExchanges> exchanges_;  ///< null: ranks share no layers
  std::unique_ptr<ParameterShards> shards_;    ///< null: every rank has all parameters
  std::unique_ptr<BatchSource> loader_;
  std::unique_ptr<InputFeed> feed_;  ///< null: a stage between the first and the last
  LaunchArguments last_arguments_;
  std::vector<Memory> figures_;  ///< by step modulo ring; of each micro batch
  std::vector<Event> ends_;      ///< of all steps
  std::size_t ring_ = 0;         ///< steps that may be under way
  std::chrono::nanoseconds started_{0};
};

/// Runs the model forward over the first test images with the statistics and parameters that
/// `trained` holds. Phase kEvaluation in traces; ops are numbered from `first_op_id`.
EvaluationResult evaluate(const Settings& settings, Device& device, StreamId stream,
                          const TrainingData& data, const CompiledGraph& trained,
                          std::int64_t first_op_id, const TrainerHooks& hooks);

}  // namespace headway::trainer
