// SPDX-License-Identifier: MIT
#include "reference_trainer/train/inference.h"

#include "common/error.h"
#include "kernels/softmax_cross_entropy/op.h"
#include "reference_trainer/train/calibration.h"
#include "reference_trainer/train/evaluation.h"

namespace headway::trainer {
namespace {

using conventions::RangeKind;
using kernels::LossFigures;

/// Settings without random choices.
Settings without_chance(Settings settings) {
  settings.augment = false;
  settings.shuffle = false;
  return settings;
}

std::int64_t steps_of(const Settings& s, const TrainingData& data) {
  if (s.steps > 0) return s.steps;
  const std::int64_t samples = std::max(test_count(s, data), s.batch);
  return samples / s.batch;
}

/// Training samples instead of test samples.
TrainingData trained_on(TrainingData data) {
  data.test = data.train;
  data.test_boxes = data.train_boxes;
  data.test_text = data.train_text;
  data.test_pairs = data.train_pairs;
  return data;
}

}  // namespace

Inference::Inference(const Settings& settings, Device& device, const TrainingData& data,
                     ParameterSet parameters, const MakeLoader& make_loader)
    : settings_(without_chance(settings)),
      device_(device),
      data_(data),
      parameters_(std::move(parameters)),
      steps_(steps_of(settings, data)),
      compute_(device.create_stream("compute")),
      run_(settings_, device_, compute_) {
  ParameterSet its = parameters_;
  model_ = build_inference_model(settings_, data_, its);
  const bool int8 = settings_.infer_precision == InferPrecision::kInt8;
  const Ranges ranges = int8 && device.computes() ? calibrate(model_, its) : Ranges{};
  lower_precision(model_, settings_, ranges, its, device.info().most_int8_weight);
  CompileOptions compile;
  compile.input_slots = InputFeed::slots(settings_.h2d);
  compile.raw_allocator = settings_.raw_allocator;
  compiled_ = device.compile(model_.graph, compile);
  if (device.computes()) write_parameters(its, model_.graph, *compiled_);
  publish_graph(model_.graph, 0);
  ExecutorOptions options;
  options.launch_cost =
      std::chrono::nanoseconds(static_cast<std::int64_t>(settings_.launch_us * 1000));
  options.sync_every = settings_.sync.ops;
  options.join_launches = settings_.cuda_graph;
  executor_ = std::make_unique<Executor>(device, compute_, model_.graph, *compiled_, 0, options);
  BatchesWanted wanted;
  wanted.batches = steps_;
  wanted.in_use = static_cast<int>(settings_.run_ahead) + 2;
  loader_ = open_training_batches(settings_, device_, data_, wanted, make_loader);
  std::unique_ptr<DeviceImages> images;
  if (const auto format = packed_format(settings_, data_)) {
    std::vector<MemoryView> slots;
    for (int slot = 0; slot < compile.input_slots; ++slot)
      slots.push_back(compiled_->memory(model_.images, slot));
    images = std::make_unique<DeviceImages>(device_, *format, slots);
  }
  feed_ = std::make_unique<InputFeed>(device_, compute_, *loader_, *compiled_, model_,
                                      settings_.h2d, wanted.in_use, std::move(images));
  for (std::int64_t i = 0; i <= settings_.run_ahead; ++i)
    figures_.push_back(device.allocate(sizeof(LossFigures), MemoryKind::kPinned));
}

/// Two passes over the calibration set: the first finds the largest magnitudes, the second fills
/// the histograms.
Ranges Inference::calibrate(const Model& plain, const ParameterSet& parameters) {
  CompileOptions options;
  options.keep_activations = true;
  const auto compiled = device_.compile(plain.graph, options);
  write_parameters(parameters, plain.graph, *compiled);
  Executor executor(device_, compute_, plain.graph, *compiled, 0, {});
  const std::vector<ValueId> values = quantised_values(plain.graph);
  const TrainingData data = trained_on(data_);
  const std::int64_t samples =
      std::min(settings_.calibration_samples, sample_count(settings_, data_));
  auto pass = [&](const auto& look) {
    const auto batches = open_test_batches(settings_, device_, data, samples);
    InputFeed feed(device_, compute_, *batches, *compiled, plain, CopyMode::kAsync, 4);
    while (const auto fed = feed.begin_step()) {
      executor.run(Phase::kForward, {fed->slot, 0, fed->batch});
      feed.end_step(device_.record(compute_));
      for (const ValueId value : values) look(value, compiled->read(value));
    }
  };
  Ranges largest;
  pass([&](ValueId value, const std::vector<float>& numbers) {
    largest[value] = std::max(largest[value], largest_size(numbers));
  });
  if (settings_.calibration == Calibration::kMax) return largest;
  std::map<ValueId, SizeHistogram> histograms;
  for (const auto& [value, most] : largest) histograms.try_emplace(value, most);
  pass(
      [&](ValueId value, const std::vector<float>& numbers) { histograms.at(value).add(numbers); });
  Ranges ranges;
  for (const auto& [value, histogram] : histograms)
    ranges[value] = histogram.range(settings_.calibration, settings_.calibration_percentile);
  return ranges;
}

RunResult Inference::run(const TrainerHooks& hooks) {
  RunResult result = run_.run(
      steps_, *feed_, [this](std::int64_t step) { launch(step); },
      [this](std::int64_t step, RunResult& so_far) { finish_step(step, so_far); }, hooks);
  for (ValueId parameter : model_.graph.parameters())
    result.parameters += model_.graph.value(parameter).shape.elements();
  if (settings_.eval && test_count(settings_, data_) > 0 && device_.computes() &&
      !result.interrupted) {
    result.evaluation = evaluate_ready(settings_, device_, compute_, data_,
                                       {model_, *compiled_, *executor_, Phase::kForward}, hooks);
    result.plain_evaluation = evaluate_plain(hooks);
  }
  return result;
}

void Inference::launch(std::int64_t step) {
  static const nvtx::Name kInput = nvtx::intern("input");
  static const nvtx::Name kForward = nvtx::intern("forward");
  LaunchArguments arguments;
  {
    nvtx::Range input(kInput, step_range(RangeKind::kPhase, Phase::kInput, step));
    run_.wait_for_room(step);
    const auto fed = feed_->begin_step();
    HEADWAY_INVARIANT(fed.has_value());  // the loader makes enough batches
    arguments = {fed->slot, 0, fed->batch, fed->filled};
  }
  {
    nvtx::Range forward(kForward, step_range(RangeKind::kPhase, Phase::kForward, step));
    executor_->run(Phase::kForward, arguments);
    const MemoryView to = figures_[static_cast<std::size_t>(step) % figures_.size()].view();
    const MemoryView from = compiled_->memory(model_.figures);
    if (settings_.loss_read == LossRead::kStep)
      device_.copy_blocking(compute_, to, from, sizeof(LossFigures), step);
    else
      device_.copy(compute_, to, from, sizeof(LossFigures), step);
  }
  const Event end = run_.record_end();
  nvtx::Range input(kInput, step_range(RangeKind::kPhase, Phase::kInput, step));
  feed_->end_step(end);
}

void Inference::finish_step(std::int64_t step, RunResult& result) {
  if (!device_.computes()) return;
  const auto& got =
      *figures_[static_cast<std::size_t>(step) % figures_.size()].as<const LossFigures>();
  StepRecord& record = result.steps[static_cast<std::size_t>(step)];
  record.loss = got.loss;
  record.accuracy = got.counted > 0 ? got.correct / got.counted : 0;
}

EvaluationResult Inference::evaluate_plain(const TrainerHooks& hooks) {
  Model model = build_forward_model(settings_, data_, false);
  std::vector<Node> nodes = model.graph.nodes();
  for (Node& node : nodes) node.phase = Phase::kEvaluation;
  model.graph.replace_nodes(std::move(nodes));
  const auto first = static_cast<std::int64_t>(model_.graph.node_count());
  CompileOptions options;
  options.first_op_id = first;
  const auto compiled = device_.compile(model.graph, options);
  write_parameters(parameters_, model.graph, *compiled);
  publish_graph(model.graph, first);
  Executor executor(device_, compute_, model.graph, *compiled, first, {});
  return evaluate_ready(settings_, device_, compute_, data_, {model, *compiled, executor}, hooks);
}

ParameterSet parameters_for_inference(const Settings& settings, Device& device,
                                      const TrainingData& data, const TrainerHooks& hooks) {
  if (!device.computes()) return {};
  if (!settings.checkpoint.empty()) return read_checkpoint(settings.checkpoint);
  const Model forward = build_forward_model(settings, data, false);
  if (settings.train_steps == 0)
    return initial_parameters(forward.graph, static_cast<std::uint64_t>(settings.seed));
  Settings training = settings;
  training.mode = RunMode::kTrain;
  training.steps = settings.train_steps;
  training.eval = false;
  Trainer trainer(training, device, data);
  trainer.run(hooks);
  return trainer.parameters(forward.graph);
}

}  // namespace headway::trainer
