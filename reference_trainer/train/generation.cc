// SPDX-License-Identifier: MIT
#include "reference_trainer/train/generation.h"

#include "common/error.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer {
namespace {

using conventions::RangeKind;

/// The settings of the loader, which provides prompts.
Settings of_prompts(Settings settings) {
  settings.shuffle = false;
  settings.sequence -= settings.generate;
  return settings;
}

ValueId next_tokens(const Model& model) {
  return model.graph.find(kNextTokens);
}

}  // namespace

Generation::Generation(const Settings& settings, Device& device, const TrainingData& data,
                       const ParameterSet& parameters, const MakeLoader& make_loader)
    : settings_(settings),
      device_(device),
      steps_(settings.steps > 0 ? settings.steps : settings.generate),
      compute_(device.create_stream("compute")),
      run_(settings_, device_, compute_) {
  const bool cached = settings_.kv_cache;
  add_part(token_, cached ? TransformerPart::kToken : TransformerPart::kAgain, parameters, 0,
           nullptr);
  add_part(prompt_, cached ? TransformerPart::kPrompt : TransformerPart::kStore, parameters,
           static_cast<std::int64_t>(token_.model.graph.node_count()), token_.compiled.get());
  BatchesWanted wanted;
  wanted.batches = (steps_ + settings_.generate - 1) / settings_.generate;
  wanted.in_use = 2;
  loader_ = open_training_batches(of_prompts(settings_), device_, data, wanted, make_loader);
  feed_ = std::make_unique<InputFeed>(device_, compute_, *loader_, *prompt_.compiled, prompt_.model,
                                      settings_.h2d, wanted.in_use);
  for (std::int64_t i = 0; i <= settings_.run_ahead; ++i)
    tokens_.push_back(
        device.allocate(settings_.batch * std::int64_t{sizeof(std::int32_t)}, MemoryKind::kPinned));
}

void Generation::add_part(Part& part, TransformerPart what, const ParameterSet& parameters,
                          std::int64_t first_op, const CompiledGraph* share_with) {
  part.model = build_generation_part(settings_, what);
  CompileOptions compile;
  compile.input_slots = InputFeed::slots(settings_.h2d);
  compile.first_op_id = first_op;
  compile.share_with = share_with;
  compile.raw_allocator = settings_.raw_allocator;
  compile.share = share_of(what, part.model.graph);
  part.compiled = device_.compile(part.model.graph, compile);
  if (device_.computes() && !share_with)
    write_parameters(parameters, part.model.graph, *part.compiled);
  publish_graph(part.model.graph, first_op);
  ExecutorOptions options;
  options.launch_cost =
      std::chrono::nanoseconds(static_cast<std::int64_t>(settings_.launch_us * 1000));
  options.sync_every = settings_.sync.ops;
  options.join_launches = settings_.cuda_graph;
  part.executor = std::make_unique<Executor>(device_, compute_, part.model.graph, *part.compiled,
                                             first_op, options);
}

/// A simulated device processes only the tokens that exist so far.
ModelShare Generation::share_of(TransformerPart what, const Graph& graph) const {
  ModelShare share;
  const std::int64_t rows = settings_.batch * settings_.sequence;
  if (what == TransformerPart::kToken || what == TransformerPart::kAgain)
    share.load = [this, what, rows, &graph](NodeId id, std::int64_t step) {
      const Node& node = graph.node(id);
      const double known = static_cast<double>(position(step) + 1);
      const double filled = known / static_cast<double>(settings_.sequence);
      if (what == TransformerPart::kToken) return node.op == &ops::kCachedAttention ? filled : 1;
      if (node.outputs.empty()) return 1.0;
      const Shape& result = graph.value(node.outputs[0]).shape;
      const bool pairs = std::holds_alternative<kernels::AttentionShape>(node.attributes) ||
                         node.op == &ops::kBatchedMatmul || node.op == &ops::kSoftmax;
      return pairs ? filled * filled : result[0] == rows ? filled : 1.0;
    };
  return share;
}

RunResult Generation::run(const TrainerHooks& hooks) {
  RunResult result = run_.run(
      steps_, *feed_, [this](std::int64_t step) { launch(step); },
      [this](std::int64_t step, RunResult& so_far) { finish_step(step, so_far); }, hooks);
  for (ValueId parameter : token_.model.graph.parameters())
    result.parameters += token_.model.graph.value(parameter).shape.elements();
  return result;
}

/// The inputs of a step are on the device, except for prompts.
void Generation::launch(std::int64_t step) {
  static const nvtx::Name kInput = nvtx::intern("input");
  static const nvtx::Name kForward = nvtx::intern("forward");
  const bool first = step % settings_.generate == 0;
  LaunchArguments arguments;
  arguments.batch = step;
  arguments.position = position(step);
  run_.wait_for_room(step);
  if (first) {
    nvtx::Range input(kInput, step_range(RangeKind::kPhase, Phase::kInput, step));
    const auto fed = feed_->begin_step();
    HEADWAY_INVARIANT(fed.has_value());  // the loader makes enough batches
    arguments.slot = fed->slot;
  }
  {
    nvtx::Range forward(kForward, step_range(RangeKind::kPhase, Phase::kForward, step));
    if (first) prompt_.executor->run(Phase::kForward, arguments);
    arguments.slot = 0;
    if (!first || !settings_.kv_cache) token_.executor->run(Phase::kForward, arguments);
    read_tokens(step);
  }
  const Event end = run_.record_end();
  if (!first) return;
  nvtx::Range input(kInput, step_range(RangeKind::kPhase, Phase::kInput, step));
  feed_->end_step(end);
}

/// Copies the tokens to the host, which checks whether a text has ended.
void Generation::read_tokens(std::int64_t step) {
  const Memory& memory = tokens_[static_cast<std::size_t>(step) % tokens_.size()];
  const MemoryView from = token_.compiled->memory(next_tokens(token_.model));
  if (settings_.loss_read == LossRead::kStep)
    device_.copy_blocking(compute_, memory.view(), from, memory.bytes(), step);
  else
    device_.copy(compute_, memory.view(), from, memory.bytes(), step);
}

void Generation::finish_step(std::int64_t step, RunResult& result) {
  if (!device_.computes()) return;
  const auto* got = tokens_[static_cast<std::size_t>(step) % tokens_.size()].as<std::int32_t>();
  result.tokens.emplace_back(got, got + settings_.batch);
}

}  // namespace headway::trainer
