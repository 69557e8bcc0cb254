// SPDX-License-Identifier: MIT
#include "reference_trainer/train/trainer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "common/error.h"
#include "kernels/cast/op.h"
#include "kernels/loss_scaler/op.h"
#include "kernels/softmax_cross_entropy/op.h"
#include "reference_trainer/data/random.h"
#include "reference_trainer/models/transformer.h"
#include "reference_trainer/ops/op.h"
#include "reference_trainer/ops/optimizer.h"
#include "reference_trainer/passes/apply_precision.h"
#include "reference_trainer/train/build_model.h"
#include "reference_trainer/train/parameters.h"

namespace headway::trainer {
namespace {

using conventions::RangeKind;
using conventions::RangePayload;
using kernels::LossFigures;

/// One step in this many has its own shape (--module-loading).
constexpr std::int64_t kStepsOfShape = 4;

double seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

/// Names of the ranges of a step and its phases on the training thread.
struct StepNames {
  nvtx::Name step = nvtx::intern("step");
  nvtx::Name input = nvtx::intern("input");
  nvtx::Name forward = nvtx::intern("forward");
  nvtx::Name backward = nvtx::intern("backward");
  nvtx::Name update = nvtx::intern("update");
  nvtx::Name read_first = nvtx::intern("read data set");
  nvtx::Name load_code = nvtx::intern("load device code");
  /// By PauseFor, without kNothing.
  std::array<nvtx::Name, 6> pauses = {
      nvtx::intern("evaluation"),         nvtx::intern("save checkpoint"), nvtx::intern("logging"),
      nvtx::intern("garbage collection"), nvtx::intern("restart workers"), nvtx::intern("metrics")};
};
const StepNames& names() {
  static const StepNames kNames;
  return kNames;
}

RangePayload range(RangeKind kind, Phase phase, std::int64_t step, std::int64_t batch) {
  RangePayload payload;
  payload.kind = static_cast<std::uint32_t>(kind);
  payload.phase = static_cast<std::uint32_t>(phase);
  payload.step = step;
  payload.batch = batch;
  return payload;
}

std::vector<float> part_of_whole(const Value& value, const std::vector<float>& whole) {
  const PartOfWhole& part = value.part;
  const std::int64_t columns = value.shape.last();
  const std::int64_t rows = value.shape.elements() / columns;
  const std::int64_t each = rows / part.blocks;  // of a block
  std::vector<float> result;
  result.reserve(static_cast<std::size_t>(rows * columns));
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t at = row / each * (part.rows / part.blocks) + part.first_row + row % each;
    const auto begin = whole.begin() + at * part.columns + part.first_column;
    result.insert(result.end(), begin, begin + columns);
  }
  return result;
}

/// An equal share of the memory of parameters and values like them, and of the work of their
/// updates.
ModelShare equal_part(const Graph& graph, int ranks) {
  const double part = 1.0 / ranks;
  return {
      [&graph, part](NodeId node) { return graph.node(node).phase == Phase::kUpdate ? part : 1; },
      [&graph, part](ValueId value) {
        return graph.value(graph.owner(value)).role == Role::kParameter ? part : 1;
      }};
}

}  // namespace

std::int64_t total_steps(const Settings& settings, std::int64_t samples) {
  const std::int64_t of_a_step =
      settings.batch * settings.accumulate * ranks_with_own_samples(settings);
  return settings.steps > 0 ? settings.steps : settings.epochs * (samples / of_a_step);
}

Trainer::Trainer(const Settings& settings, Device& device, const TrainingData& data,
                 const TrainerParts& parts)
    : settings_(with_micro_batches(settings)),
      device_(device),
      data_(data),
      steps_(total_steps(settings, sample_count(settings, data))),
      compute_(device.create_stream("compute")),
      model_(build_training_model(settings_, data, gradients_,
                                  parts.communicator ? parts.communicator->rank() : 0)),
      ring_(static_cast<std::size_t>(settings.run_ahead) + 1) {
  if (parts.communicator) {
    communicator_ = parts.communicator;
    rank_ = communicator_->rank();
  }
  if (settings.shard_parameters && communicator_)
    units_ =
        plan_units(model_.graph, gradients_,
                   {rank_, communicator_->size(), settings.gather_prefetch, device.computes()});
  const bool sums = parts.communicator || settings_.accumulate > 1;
  // Buckets and sums of micro batches store the addresses of gradients, so gradients must keep
  // their memory. Gradients of units have memory of the unit.
  if ((settings.raw_allocator && sums) || (units_ && device.computes()))
    for (const auto& [parameter, gradient] : gradients_)
      model_.graph.value(gradient).role = Role::kResult;
  CompileOptions compile{.input_slots = InputFeed::slots(settings.h2d),
                         .raw_allocator = settings.raw_allocator};
  ExecutorOptions options;
  if (settings.pipeline != PipelineSchedule::kOff && communicator_) {
    plan_pipeline(compile);
    options.runs = stage_->runs;
  } else if (units_) {
    compile.share = equal_part(model_.graph, units_->ranks);
    if (device.computes()) compile.units = &*units_;
  } else if (settings.expert_parallel && communicator_) {
    compile.share = expert_share();
  }
  compiled_ = device.compile(model_.graph, compile);
  if (stage_)
    links_ = std::make_unique<PipelineLinks>(device_, compute_, *parts.communicator, *compiled_,
                                             *stage_, static_cast<int>(settings_.accumulate),
                                             parts.message_buffers);
  initialise_values();
  publish_graph(model_.graph, 0, stage_ ? stage_->described() : options.runs);
  options.launch_cost =
      std::chrono::nanoseconds(static_cast<std::int64_t>(settings.launch_us * 1000));
  options.sync_every = settings.sync.ops;
  options.join_launches = settings.cuda_graph;
  executor_ = std::make_unique<Executor>(device, compute_, model_.graph, *compiled_, 0, options);
  if ((settings.expert_parallel || settings.tensor_parallel) && communicator_)
    add_model_exchanges(parts);
  if (units_)
    add_parameter_shards(parts);
  else
    add_gradient_sync(parts);
  add_input(parts);
  for (std::size_t i = 0; i < ring_; ++i)
    figures_.push_back(device.allocate(settings_.accumulate * std::int64_t{sizeof(LossFigures)},
                                       MemoryKind::kPinned));
}

void Trainer::add_input(const TrainerParts& parts) {
  if (stage_ && stage_->stage > 0 && !stage_->is_last()) return;
  BatchesWanted wanted;
  wanted.batches = steps_ * settings_.accumulate;
  wanted.in_use = static_cast<int>(settings_.run_ahead) + 2;
  if (communicator_ && ranks_with_own_samples(settings_) > 1) {
    wanted.rank = communicator_->rank();
    wanted.ranks = communicator_->size();
  }
  loader_ = open_training_batches(settings_, device_, data_, wanted, parts.make_loader);
  feed_ =
      std::make_unique<InputFeed>(device_, compute_, *loader_, *compiled_, model_, settings_.h2d,
                                  wanted.in_use, device_images(), batches_in_use());
}

void Trainer::plan_pipeline(CompileOptions& compile) {
  const int stages = communicator_->size();
  const int micro_batches = static_cast<int>(settings_.accumulate);
  stage_ = plan_stage(model_.graph, rank_, stages,
                      most_under_way(settings_.pipeline, rank_, stages, micro_batches));
  if (device_.computes()) {
    keep_own_updates(model_.graph, *stage_);
    compile.runs = stage_->runs;
    compile.kept_copies = stage_->under_way;
    compile.input_slots = InputFeed::slots(settings_.h2d, batches_in_use());
  } else {
    compile.share = stage_->share();
  }
  std::erase_if(gradients_, [&](const auto& pair) {
    return !stage_->runs[model_.graph.value(pair.second).producer.value];
  });
}

std::unique_ptr<DeviceImages> Trainer::device_images() const {
  const std::optional<PackedFormat> format = packed_format(settings_, data_);
  if (!format) return nullptr;
  std::vector<MemoryView> slots;
  for (int slot = 0; slot < InputFeed::slots(settings_.h2d); ++slot)
    slots.push_back(compiled_->memory(model_.images, slot));
  return std::make_unique<DeviceImages>(device_, *format, slots);
}

void Trainer::add_gradient_sync(const TrainerParts& parts) {
  const bool apart = stage_ || (settings_.tensor_parallel && !settings_.sequence_parallel);
  const bool alone = apart || settings_.local_steps > 1;
  Communicator* const others = alone ? nullptr : parts.communicator;
  if (parts.communicator && settings_.local_steps > 1) add_parameter_average(parts);
  if (!others && settings_.accumulate == 1) return;
  GradientSyncOptions options;
  options.exchange = {settings_.compress,
                      settings_.topology,
                      settings_.dgc_density,
                      settings_.dgc_warm_up,
                      static_cast<float>(settings_.momentum),
                      static_cast<int>(settings_.powersgd_rank),
                      static_cast<float>(settings_.dgc_clip),
                      1,
                      static_cast<std::uint64_t>(settings_.seed)};
  options.first_bucket_bytes = static_cast<std::int64_t>(settings_.first_bucket_mb * 1048576);
  options.bucket_bytes = static_cast<std::int64_t>(settings_.bucket_mb * 1048576);
  options.overlap = settings_.overlap;
  options.micro_batches = static_cast<int>(settings_.accumulate);
  options.each_micro_batch = settings_.sum_each_batch;
  options.sums = settings_.sequence_parallel;
  // On devices that compute, all exchanges use one stream, in the order in which the host enqueues
  // them.
  if (exchanges_ && device_.computes()) options.stream = exchanges_->stream();
  gradient_sync_ = std::make_unique<GradientSync>(device_, compute_, model_.graph, *compiled_,
                                                  gradients_, others, options);
}

/// Parameters take the place of gradients, in the same buckets. Where the optimizer updates an FP32
/// copy, the copies are averaged and the parameters are rounded from them.
void Trainer::add_parameter_average(const TrainerParts& parts) {
  const Graph& graph = model_.graph;
  std::map<ValueId, ValueId> master;
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.values()[i];
    if (value.copies_parameter) master[value.like] = ValueId::from(i);
  }
  GradientSyncOptions options;
  options.exchange.topology = settings_.topology;
  options.exchange.copy_format = parameter_format(settings_.precision);
  options.first_bucket_bytes = static_cast<std::int64_t>(settings_.first_bucket_mb * 1048576);
  options.bucket_bytes = static_cast<std::int64_t>(settings_.bucket_mb * 1048576);
  options.overlap = false;  // the update comes before
  GradientSync::Pairs averaged;
  for (const auto& [parameter, gradient] : gradients_) {
    const auto copied = master.find(parameter);
    const ValueId value = copied == master.end() ? parameter : copied->second;
    averaged.emplace_back(parameter, value);
    if (value != parameter) options.copies[value] = parameter;
  }
  parameter_average_ = std::make_unique<GradientSync>(device_, compute_, graph, *compiled_,
                                                      averaged, parts.communicator, options);
}

/// The load of a rank's experts depends on where the other ranks' tokens go.
ModelShare Trainer::expert_share() {
  expert_load_ = std::make_unique<ExpertLoad>(settings_);
  ModelShare share;
  if (settings_.expert_capacity > 0) return share;  // all places are computed
  share.load = [this](NodeId id, std::int64_t batch) {
    const Graph& graph = model_.graph;
    const Node& node = graph.node(id);
    const std::int64_t layer = expert_layer_of(node.name);
    const bool of_tokens = std::ranges::any_of(node.inputs, [&](ValueId input) {
      return graph.value(graph.owner(input)).role != Role::kParameter;
    });
    return layer >= 0 && of_tokens ? expert_load_->of_rank(rank_, layer, batch) : 1;
  };
  return share;
}

void Trainer::add_model_exchanges(const TrainerParts& parts) {
  ModelExchanges::Most most;
  if (settings_.expert_parallel && settings_.expert_capacity <= 0)
    most = [this](std::int64_t layer, std::int64_t batch) {
      return expert_load_->most(layer, batch);
    };
  exchanges_ = std::make_unique<ModelExchanges>(device_, compute_, model_.graph, *compiled_,
                                                *parts.communicator, most);
  std::erase_if(gradients_, [&](const auto& pair) {
    const Value& parameter = model_.graph.value(pair.first);
    // Ranks that share layers have equal gradients of common parameters, except where each rank
    // sees only its own tokens.
    return settings_.tensor_parallel ? !parameter.sum_over_ranks : parameter.part.valid();
  });
}

void Trainer::add_parameter_shards(const TrainerParts& parts) {
  ShardOptions options;
  const Graph& graph = model_.graph;
  if (device_.computes()) {
    for (std::size_t i = 0; i < graph.node_count(); ++i)
      if (const OpDefinition* op = graph.nodes()[i].op;
          op == &ops::kUnscale || op == &ops::kUnscaleMultiTensor)
        options.last_check = NodeId::from(i);
    if (options.last_check.valid()) {
      const MemoryView state = compiled_->memory(graph.find(kOptimizerState));
      options.overflow = &static_cast<kernels::OptimizerState*>(state.address)->overflow;
    }
  } else if (parameter_format(settings_.precision) != kernels::NumberFormat::kFloat32) {
    options.type = ElementType::kHalf;  // a device that computes on the host keeps floats
  }
  shards_ = std::make_unique<ParameterShards>(device_, compute_, graph, *units_, *compiled_,
                                              *parts.communicator, options);
}

ParameterSet Trainer::parameters(const Graph& wanted) const {
  if (stage_) return gathered_;
  ParameterSet set;
  if (shards_)
    for (std::size_t i = 0; i < units_->units.size(); ++i) {
      shards_->gather_now(i);
      for (ValueId id : units_->units[i].parameters)
        set[model_.graph.value(id).name] = compiled_->read(id);
    }
  return read_parameters(model_.graph, *compiled_, wanted, std::move(set));
}

OpHooks Trainer::hooks_of(Phase phase, int micro_batch, std::int64_t batch) {
  if (shards_)
    return {[this, batch](NodeId node) { shards_->before(node, batch); },
            [this, batch](NodeId node) { shards_->after(node, batch); },
            [this](NodeId node) { return shards_->acts_after(node); },
            [this](NodeId node) { return shards_->acts_before(node); }};
  const bool syncs = phase == Phase::kBackward && gradient_sync_ && gradient_sync_->follows_ops() &&
                     gradient_sync_->exchanges(micro_batch);
  if (!syncs && !exchanges_) return {};
  return {{},
          [this, batch, syncs](NodeId node) {
            if (exchanges_) exchanges_->after(node, batch);
            if (syncs) gradient_sync_->op_launched(node, batch);
          },
          [this, syncs](NodeId node) {
            return (exchanges_ && exchanges_->acts_after(node)) ||
                   (syncs && gradient_sync_->is_last_of_bucket(node));
          },
          {}};
}

/// Each value has its own stream of random numbers, so that passes that add values do not change
/// the others.
void Trainer::initialise_values() {
  if (!device_.computes()) return;
  std::uint64_t number = 0;
  // Kept only for master copies: a rank that shares parameters has no room for all of them.
  std::map<ValueId, std::vector<float>> parameters;
  const bool are_copied = std::ranges::any_of(model_.graph.values(), &Value::copies_parameter);
  for (std::size_t i = 0; i < model_.graph.value_count(); ++i) {
    const ValueId id = ValueId::from(i);
    const Value& value = model_.graph.value(id);
    const bool parameter = value.role == Role::kParameter;
    if (!parameter && value.role != Role::kState) continue;
    if (parameter) ++number;
    if (!compiled_->memory(id).address) continue;  // another stage's
    const std::int64_t elements =
        value.part.valid() ? value.part.rows * value.part.columns : value.shape.elements();
    std::vector<float> start(static_cast<std::size_t>(elements), value.initial.value);
    if (value.initial.kind == Initial::Kind::kNormal) {
      Random random(static_cast<std::uint64_t>(settings_.seed), 0x1417, number);
      for (float& element : start)
        element = static_cast<float>(random.normal()) * value.initial.value;
    }
    if (value.part.valid()) start = part_of_whole(value, start);
    if (value.copies_parameter) start = parameters.at(value.like);
    if (parameter) {
      if (are_copied) parameters[id] = start;
      kernels::round_to(parameter_format(settings_.precision), value.shape.elements(), start.data(),
                        start.data());
    }
    compiled_->write(id, start);
  }
}

RunResult Trainer::run(const TrainerHooks& hooks) {
  RunResult result;
  result.samples_per_step = settings_.batch * settings_.accumulate;
  for (ValueId parameter : model_.graph.parameters())
    result.parameters += model_.graph.value(parameter).shape.elements();
  const auto ahead = settings_.run_ahead;
  start_up();
  started_ = device_.clock().now();
  std::int64_t step = 0;
  auto report = [&](std::int64_t finished) {
    finish_step(finished, result);
    hooks.on_step(result.steps[static_cast<std::size_t>(finished)]);
  };
  for (; step < steps_; ++step) {
    if (stops_before(step, hooks)) {
      result.interrupted = true;
      break;
    }
    if (settings_.pause_for != PauseFor::kMetrics) pause(step);
    take_step(step, result);
    if (step >= ahead) report(step - ahead);
  }
  device_.synchronize();
  if (step > 0) {
    StepRecord& last = result.steps.back();
    last.duration_s = seconds(device_.clock().now() - started_) - last.start_s;
  }
  if (feed_) result.padding = feed_->padding();
  for (std::size_t i = 0; i < result.steps.size(); ++i)
    if (const auto end = device_.time_of(ends_[i]))
      result.steps[i].device_end_s = seconds(*end - started_);
  for (std::int64_t left = std::max<std::int64_t>(0, step - ahead); left < step; ++left)
    report(left);
  if (!device_.computes() || result.interrupted) return result;
  const bool evaluates = settings_.eval && test_count(settings_, data_) > 0;
  if (stage_ && (evaluates || !settings_.checkpoint.empty()))
    gathered_ =
        gather_parameters(device_, compute_, *communicator_, model_.graph, *compiled_, *stage_);
  if (evaluates && (!stage_ || stage_->is_last())) {
    TrainedModel trained;
    if (shards_ || stage_)
      trained.gather = [this](const Graph& wanted) { return parameters(wanted); };
    else
      trained.shared = compiled_.get();
    result.evaluation = evaluate(settings_, device_, compute_, data_, trained,
                                 static_cast<std::int64_t>(model_.graph.node_count()), hooks);
  }
  return result;
}

/// Emulates start-up: reading all data first, and loading the code of all shapes.
void Trainer::start_up() {
  auto rest = [&](double ms) {
    device_.clock().rest(std::chrono::nanoseconds(static_cast<std::int64_t>(ms * 1e6)));
  };
  if (settings_.read_first_ms > 0) {
    nvtx::Range reading(names().read_first, range(RangeKind::kRead, Phase::kInput, -1, -1));
    rest(settings_.read_first_ms);
  }
  if (settings_.load_code_ms > 0 && !settings_.lazy_loading) {
    nvtx::Range loading(names().load_code, range(RangeKind::kOther, Phase::kNone, -1, -1));
    const std::int64_t shapes = (steps_ + kStepsOfShape - 1) / kStepsOfShape;
    rest(settings_.load_code_ms * static_cast<double>(shapes));
  }
}

void Trainer::load_code(std::int64_t step) {
  if (!settings_.lazy_loading || settings_.load_code_ms <= 0 || step % kStepsOfShape != 0) return;
  nvtx::Range loading(names().load_code, range(RangeKind::kOther, Phase::kForward, step, step));
  device_.clock().spend(
      std::chrono::nanoseconds(static_cast<std::int64_t>(settings_.load_code_ms * 1e6)));
}

void Trainer::pause(std::int64_t step) {
  const std::int64_t every = settings_.pause_every;
  if (every <= 0 || step % every != every - 1) return;
  const double ms =
      settings_.pause_ms + settings_.pause_growth_ms * static_cast<double>(step / every);
  const std::chrono::nanoseconds length(static_cast<std::int64_t>(ms * 1e6));
  if (settings_.pause_for == PauseFor::kNothing) return device_.clock().rest(length);
  const auto what = static_cast<std::size_t>(settings_.pause_for) - 1;
  nvtx::Range working(names().pauses.at(what), range(RangeKind::kOther, Phase::kNone, step, step));
  device_.clock().spend(length);
}

/// All ranks must end with the same step. A rank that is asked to stop proposes a step that no rank
/// has begun: other ranks are ahead of it by at most the number of steps that may be unfinished.
bool Trainer::stops_before(std::int64_t step, const TrainerHooks& hooks) {
  const bool asked = hooks.stop && hooks.stop->load() != 0;
  if (!communicator_) return asked;
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  return communicator_->stop_before(asked ? step + settings_.run_ahead + 2 : kNever) <= step;
}

void Trainer::take_step(std::int64_t step, RunResult& result) {
  nvtx::Range whole(names().step, range(RangeKind::kStep, Phase::kNone, step, step));
  StepRecord record;
  record.step = step;
  record.start_s = seconds(device_.clock().now() - started_);
  if (!result.steps.empty()) {
    StepRecord& before = result.steps.back();
    before.duration_s = record.start_s - before.start_s;
  }
  const auto waited_before = feed_ ? feed_->waited() : std::chrono::nanoseconds(0);
  if (stage_)
    pipeline_passes(step);
  else
    for (int micro_batch = 0; micro_batch < settings_.accumulate; ++micro_batch)
      pass(step, micro_batch);
  {
    nvtx::Range update(names().update, range(RangeKind::kPhase, Phase::kUpdate, step, step));
    executor_->run(Phase::kUpdate, last_arguments_,
                   shards_ ? hooks_of(Phase::kUpdate, 0, last_arguments_.batch) : OpHooks{});
  }
  if (parameter_average_ && ((step + 1) % settings_.local_steps == 0 || step + 1 == steps_))
    parameter_average_->exchange(last_arguments_.batch);
  const Event end = device_.record(compute_);
  ends_.push_back(end);
  if (stage_ && device_.computes())
    fetch_ahead(step);
  else
    give_back_batch(step, end);
  if (feed_) record.input_wait_s = seconds(feed_->waited() - waited_before);
  if (settings_.pause_for == PauseFor::kMetrics) pause(step);
  result.steps.push_back(record);
}

LaunchArguments Trainer::next_batch(std::int64_t step, int micro_batch) {
  InputFeed::Fed fed;
  fed.batch = step * settings_.accumulate + micro_batch;
  {
    nvtx::Range input(names().input, range(RangeKind::kPhase, Phase::kInput, step, step));
    if (micro_batch == 0 && step >= settings_.run_ahead)
      device_.synchronize(ends_[static_cast<std::size_t>(step - settings_.run_ahead)]);
    if (feed_) {
      const std::optional<InputFeed::Fed> next = feed_->begin_step();
      HEADWAY_INVARIANT(next.has_value());  // the loader makes enough batches
      fed = *next;
    }
  }
  if (micro_batch == 0 && rank_ == settings_.slow_rank)
    device_.clock().spend(
        std::chrono::nanoseconds(static_cast<std::int64_t>(settings_.slow_rank_ms * 1e6)));
  last_arguments_ = {fed.slot, learning_rate_of(settings_), fed.batch, fed.filled};
  if (stage_) last_arguments_.kept = micro_batch % stage_->under_way;
  return last_arguments_;
}

void Trainer::forward(std::int64_t step, int micro_batch, const LaunchArguments& arguments) {
  nvtx::Range forward(names().forward, range(RangeKind::kPhase, Phase::kForward, step, step));
  if (micro_batch == 0) load_code(step);
  if (links_) links_->before(false, arguments);
  executor_->run(Phase::kForward, arguments,
                 hooks_of(Phase::kForward, micro_batch, arguments.batch));
  if (links_) links_->after(false, arguments);
}

void Trainer::backward(std::int64_t step, int micro_batch, const LaunchArguments& arguments) {
  nvtx::Range backward(names().backward, range(RangeKind::kPhase, Phase::kBackward, step, step));
  if (links_) links_->before(true, arguments);
  executor_->run(Phase::kBackward, arguments,
                 hooks_of(Phase::kBackward, micro_batch, arguments.batch));
  if (links_) links_->after(true, arguments);
  if (shards_) shards_->backward_launched();
  if (gradient_sync_) gradient_sync_->backward_launched(micro_batch, arguments.batch);
}

void Trainer::give_back_batch(std::int64_t step, const Event& done) {
  if (!feed_) return;
  nvtx::Range input(names().input, range(RangeKind::kPhase, Phase::kInput, step, step));
  feed_->end_step(done);
}

void Trainer::pass(std::int64_t step, int micro_batch) {
  const LaunchArguments arguments = next_batch(step, micro_batch);
  forward(step, micro_batch, arguments);
  backward(step, micro_batch, arguments);
  read_figures(step, micro_batch);
  if (micro_batch + 1 < settings_.accumulate) give_back_batch(step, device_.record(compute_));
}

void Trainer::pipeline_passes(std::int64_t step) {
  const int micro_batches = static_cast<int>(settings_.accumulate);
  std::vector<LaunchArguments> arguments(static_cast<std::size_t>(micro_batches));
  for (const PipelinePass& pass :
       passes_of(settings_.pipeline, stage_->stage, stage_->stages, micro_batches)) {
    LaunchArguments& its = arguments[static_cast<std::size_t>(pass.micro_batch)];
    if (pass.backward) {
      backward(step, pass.micro_batch, its);
      if (stage_->is_last() && !device_.computes()) read_figures(step, pass.micro_batch);
      // The first stage reads its tokens again, and the last stage its labels.
      if (feed_ && device_.computes()) feed_->release(its.slot, device_.record(compute_));
      continue;
    }
    its = next_batch(step, pass.micro_batch);
    forward(step, pass.micro_batch, its);
    if (!device_.computes()) {
      if (pass.micro_batch + 1 < micro_batches) give_back_batch(step, device_.record(compute_));
      continue;
    }
    // The next forward pass overwrites the figures.
    if (stage_->is_last()) read_figures(step, pass.micro_batch);
    if (pass.micro_batch + 1 < micro_batches) fetch_ahead(step);
  }
}

void Trainer::fetch_ahead(std::int64_t step) {
  if (!feed_) return;
  nvtx::Range input(names().input, range(RangeKind::kPhase, Phase::kInput, step, step));
  feed_->fetch_ahead();
}

void Trainer::read_figures(std::int64_t step, int micro_batch) {
  if (!reads_loss(step)) return;
  MemoryView to = figures_[static_cast<std::size_t>(step) % ring_].view();
  to.address = static_cast<LossFigures*>(to.address) + micro_batch;
  const MemoryView from = compiled_->memory(model_.figures);
  if (settings_.loss_read == LossRead::kStep) {
    device_.copy_blocking(compute_, to, from, sizeof(LossFigures), step);
  } else {
    device_.copy(compute_, to, from, sizeof(LossFigures), step);
  }
}

/// Called when the step's end has passed on the device, so its figures are in host memory.
void Trainer::finish_step(std::int64_t step, RunResult& result) {
  if (!reads_loss(step)) return;
  if (!device_.computes() || (stage_ && !stage_->is_last())) return;
  LossFigures figures{};
  const auto* parts = figures_[static_cast<std::size_t>(step) % ring_].as<const LossFigures>();
  for (std::int64_t i = 0; i < settings_.accumulate; ++i) {
    figures.loss += parts[i].loss / static_cast<float>(settings_.accumulate);
    figures.correct += parts[i].correct;
    figures.counted += parts[i].counted;
  }
  StepRecord& record = result.steps[static_cast<std::size_t>(step)];
  record.loss = figures.loss;
  record.accuracy = figures.counted > 0 ? figures.correct / figures.counted : 0;
  if (!std::isfinite(figures.loss))
    fail_usage(
        "The loss of step {} is {}: the training has diverged. Use a smaller --learning-rate "
        "than {}.",
        step, figures.loss, learning_rate_of(settings_));
}

}  // namespace headway::trainer
