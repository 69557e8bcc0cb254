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
#include "reference_trainer/train/parameters.h"
#include "reference_trainer/train/pipeline.h"
#include "reference_trainer/train/run_result.h"

namespace headway::trainer {

/// The data of a run. The caller owns all objects; they must outlive the trainer.
struct TrainingData {
  SampleSource* train = nullptr;  ///< owned by the caller, as all here, for longer than the trainer
  SampleSource* test = nullptr;   ///< may be null: no evaluation
  int height = 0;                 ///< of the images that the model gets, in pixels
  int width = 0;
  int channels = 1;       ///< 3: pictures
  int canvas_height = 0;  ///< pictures: size of the decoded image
  int canvas_width = 0;
  const PictureSizes* sizes = nullptr;  ///< set where the device gets pictures in their own sizes
  int classes = 0;                      ///< labels are 0 to classes - 1
  PixelStatistics statistics;           ///< of the training images, for normalisation
  const BoxSet* train_boxes = nullptr;  ///< of the samples of `train`, for models that find boxes
  const BoxSet* test_boxes = nullptr;
  const TextSet* train_text = nullptr;  ///< for models of text, instead of images
  const TextSet* test_text = nullptr;
  const PairSet* train_pairs = nullptr;  ///< for models of translations
  const PairSet* test_pairs = nullptr;
};

/// The largest number of boxes in one picture, in training and testing.
std::int64_t box_places(const TrainingData& data);
/// The number of training samples, and of test samples (0: none).
std::int64_t sample_count(const Settings& settings, const TrainingData& data);
std::int64_t test_count(const Settings& settings, const TrainingData& data);

/// The format of image batches for a device that makes the images itself; none where the loader
/// makes them.
std::optional<PackedFormat> packed_format(const Settings& settings, const TrainingData& data);

struct BatchesWanted {
  std::int64_t batches = 0;  ///< in the whole run
  int in_use = 4;            ///< that may be in use at once
  int rank = 0;              ///< of `ranks` that share the samples
  int ranks = 1;
};
/// Makes the loader of images; empty: a Loader.
using MakeLoader = std::function<std::unique_ptr<BatchSource>(SampleSource&, const LoaderOptions&)>;
std::unique_ptr<BatchSource> open_training_batches(const Settings& settings, Device& device,
                                                   const TrainingData& data,
                                                   const BatchesWanted& wanted,
                                                   const MakeLoader& make_loader = {});
/// Opens batches that cover `samples` test samples, in order; the last may be shorter.
std::unique_ptr<BatchSource> open_test_batches(const Settings& settings, Device& device,
                                               const TrainingData& data, std::int64_t samples);

struct TrainerHooks {
  /// Called when a step's figures are known, in order of steps.
  std::function<void(const StepRecord&)> on_step = [](const StepRecord&) {};
  /// Called during evaluation: images done, images in total.
  std::function<void(std::int64_t, std::int64_t)> on_evaluation = [](auto, auto) {};
  /// When it becomes nonzero, the run ends in an orderly way after the current step.
  const std::atomic<int>* stop = nullptr;
};

/// The number of steps that `settings` ask for with `samples` training samples.
std::int64_t total_steps(const Settings& settings, std::int64_t samples);

/// Optional parts of a run, besides device and data.
struct TrainerParts {
  MakeLoader make_loader;
  /// The other ranks of the run; null: there are none. Must outlive the trainer.
  Communicator* communicator = nullptr;
  int message_buffers = 0;  ///< of a pipeline: see PipelineLinks
};

/// One training run: builds the graph, compiles it for the device, and drives it from the calling
/// thread. `settings.threads` must be resolved. Throws Error on bad data, failed ops, or a loss
/// that is not a number.
class Trainer {
 public:
  Trainer(const Settings& settings, Device& device, const TrainingData& data,
          const TrainerParts& parts = {});

  /// Runs all steps and the evaluation; call it once. Blocks until the device is done.
  RunResult run(const TrainerHooks& hooks);

  const Graph& graph() const { return model_.graph; }
  const CompiledGraph& compiled() const { return *compiled_; }
  /// After `run`, on a device that computes: the parameters and running statistics that also occur in
  /// `wanted`, another graph of the model. Where ranks share parameters, they gather them: all ranks
  /// must call it. In a pipeline with a checkpoint or an evaluation the last stage has those of all
  /// stages; the others have none.
  ParameterSet parameters(const Graph& wanted) const;
  std::int64_t steps() const { return steps_; }

 private:
  void initialise_values();
  std::unique_ptr<DeviceImages> device_images() const;
  void add_gradient_sync(const TrainerParts& parts);
  /// For steps that ranks make alone.
  void add_parameter_average(const TrainerParts& parts);
  void start_up();
  /// Loads the device code of a new shape, at the steps that have one.
  void load_code(std::int64_t step);
  /// For layers that ranks share: sets up their exchanges, and excludes gradients that belong to
  /// one rank only.
  void add_model_exchanges(const TrainerParts& parts);
  ModelShare expert_share();
  void add_parameter_shards(const TrainerParts& parts);
  /// The hooks around the ops of a micro batch's pass in one direction.
  OpHooks hooks_of(Phase phase, int micro_batch, std::int64_t batch);
  /// Whether the run ends before `step`; all ranks agree on it.
  bool stops_before(std::int64_t step, const TrainerHooks& hooks);
  /// Emulates what a program does besides training: nothing that it reports, or work that a range names.
  void pause(std::int64_t step);
  /// Launches one step; its figures may become known later (finish_step).
  void take_step(std::int64_t step, RunResult& result);
  /// Decides which part of the model this rank has as a stage.
  void plan_pipeline(CompileOptions& compile);
  /// The batches that the device may read at once. A simulated stage gives a batch back after its
  /// forward pass.
  int batches_in_use() const { return stage_ && device_.computes() ? stage_->under_way : 1; }
  void add_input(const TrainerParts& parts);
  /// Runs the forward and backward pass of one micro batch.
  void pass(std::int64_t step, int micro_batch);
  /// Runs all passes of a stage's micro batches.
  void pipeline_passes(std::int64_t step);
  LaunchArguments next_batch(std::int64_t step, int micro_batch);
  void forward(std::int64_t step, int micro_batch, const LaunchArguments& arguments);
  void backward(std::int64_t step, int micro_batch, const LaunchArguments& arguments);
  void give_back_batch(std::int64_t step, const Event& done);
  /// Lets the next batch be copied while the last one is still in use.
  void fetch_ahead(std::int64_t step);
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
  std::optional<UnitPlan> units_;  ///< none: every rank has all parameters
  std::unique_ptr<CompiledGraph> compiled_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<GradientSync> gradient_sync_;      ///< null: one rank, one micro batch
  std::unique_ptr<GradientSync> parameter_average_;  ///< null: gradients are exchanged
  std::optional<StagePlan> stage_;                   ///< none: the rank has the whole model
  ParameterSet gathered_;                            ///< on the last stage, after the last step
  std::unique_ptr<PipelineLinks> links_;
  std::unique_ptr<ExpertLoad> expert_load_;    ///< null: no rank has its own experts
  std::unique_ptr<ModelExchanges> exchanges_;  ///< null: ranks share no layers
  std::unique_ptr<ParameterShards> shards_;    ///< null: the same
  std::unique_ptr<BatchSource> loader_;
  std::unique_ptr<InputFeed> feed_;  ///< null: a stage between the first and the last
  LaunchArguments last_arguments_;
  std::vector<Memory> figures_;  ///< by step modulo `ring_`, then micro batch
  std::vector<Event> ends_;      ///< of all steps
  std::size_t ring_ = 0;         ///< steps that may be unfinished at once
  std::chrono::nanoseconds started_{0};
};

/// Where an evaluation finds parameters and running statistics; one of the two is set.
struct TrainedModel {
  const CompiledGraph* shared = nullptr;  ///< in the memory of this graph
  /// Returns those of a graph, where no memory has all parameters.
  std::function<ParameterSet(const Graph& wanted)> gather = {};
};

/// Runs the model forward over the first test images with the statistics and parameters of
/// `trained`. Its ops have phase kEvaluation in traces and are numbered from `first_op_id`.
EvaluationResult evaluate(const Settings& settings, Device& device, StreamId stream,
                          const TrainingData& data, const TrainedModel& trained,
                          std::int64_t first_op_id, const TrainerHooks& hooks);

}  // namespace headway::trainer
