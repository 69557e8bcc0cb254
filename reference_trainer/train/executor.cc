// SPDX-License-Identifier: MIT
#include "reference_trainer/train/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/error.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer {
namespace {

using conventions::RangeKind;

conventions::GraphOpPayload payload_of(const Graph& graph, const Node& node, std::int64_t id,
                                       std::int64_t first_op_id) {
  conventions::GraphOpPayload payload;
  const Work work = node.op->work(graph, node);
  payload.op = id;
  payload.forward_op =
      node.forward.valid() ? first_op_id + node.forward.value : conventions::kAbsent;
  payload.phase = static_cast<std::uint32_t>(node.phase);
  payload.flops = work.flops;
  payload.bytes = work.bytes;
  std::set<NodeId> producers;
  for (ValueId input : node.inputs) {
    const NodeId producer = graph.value(input).producer;
    const bool fits = payload.input_count < conventions::kMaxGraphInputs;
    if (!producer.valid() || !fits || !producers.insert(producer).second) continue;
    payload.inputs[payload.input_count++] = first_op_id + producer.value;
  }
  // The first output is the op's result; an update's result is the parameters it changes.
  const ValueId result = node.outputs.empty() ? node.inputs[0] : node.outputs[0];
  payload.output_bytes = graph.value(result).bytes();
  nvtx::copy_text(payload.type, node.op->type);
  nvtx::copy_text(payload.name, node.name);
  nvtx::copy_text(payload.shape, graph.value(result).shape.text());
  return payload;
}

}  // namespace

Executor::Executor(Device& device, StreamId stream, const Graph& graph, CompiledGraph& compiled,
                   std::int64_t first_op_id, const ExecutorOptions& options)
    : device_(device), stream_(stream), graph_(graph), compiled_(compiled), options_(options) {
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    const Node& node = graph.nodes()[i];
    if (!options.runs.empty() && !options.runs[i]) continue;
    Op op{NodeId::from(i), nvtx::intern(fmt::format("{} {}", node.op->type, node.name)), {}};
    op.payload.kind = static_cast<std::uint32_t>(RangeKind::kOp);
    op.payload.phase = static_cast<std::uint32_t>(node.phase);
    op.payload.op = first_op_id + static_cast<std::int64_t>(i);
    const Work work = node.op->work(graph, node);
    op.payload.bytes = work.bytes;
    op.payload.flops = work.flops;
    if (node.on_processor) prepare_round_trip(op.node);
    ops_of_phase_[static_cast<std::size_t>(node.phase)].push_back(op);
  }
}

void Executor::prepare_round_trip(NodeId id) {
  const Node& node = graph_.node(id);
  HEADWAY_INVARIANT(node.op->on_processor != nullptr);
  RoundTrip& trip = round_trips_[id];
  auto allocate = [&](ValueId value) {
    return device_.allocate(graph_.value(value).bytes(), MemoryKind::kPinned);
  };
  for (ValueId input : node.inputs) trip.inputs.push_back(allocate(input));
  for (ValueId output : node.outputs) trip.outputs.push_back(allocate(output));
}

void Executor::run_on_processor(NodeId id, const LaunchArguments& arguments) {
  const Node& node = graph_.node(id);
  const RoundTrip& trip = round_trips_.at(id);
  std::vector<void*> inputs;
  std::vector<void*> outputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Memory& to = trip.inputs[i];
    device_.copy_blocking(stream_, to.view(), compiled_.memory(node.inputs[i], arguments.slot),
                          to.bytes(), arguments.batch);
    inputs.push_back(to.as<void>());
  }
  for (const Memory& output : trip.outputs) outputs.push_back(output.as<void>());
  const ProcessorForm& form = *node.op->on_processor;
  if (device_.computes()) {
    form.run(node, inputs, outputs);
  } else {
    const auto elements = static_cast<double>(graph_.value(node.inputs[0]).shape.elements());
    device_.clock().spend(std::chrono::nanoseconds(std::llround(elements * form.ns_per_element)));
  }
  // The next round trip's first copy waits for these copies, so the memory is free again by then.
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    device_.copy(stream_, compiled_.memory(node.outputs[i]), trip.outputs[i].view(),
                 trip.outputs[i].bytes(), arguments.batch);
}

/// The first time, ops run one by one: libraries load what they need, which a capture does not
/// allow.
const Executor::Pieces* Executor::pieces(Phase phase, const LaunchArguments& arguments,
                                         const OpHooks& hooks) {
  if (ops_of_phase_[static_cast<std::size_t>(phase)].empty()) return nullptr;
  const auto [place, first] = pieces_.try_emplace(
      {phase, arguments.slot, static_cast<bool>(hooks.before), static_cast<bool>(hooks.after)});
  if (first) return nullptr;
  Pieces& pieces = place->second;
  if (!pieces.empty()) return &pieces;
  pieces = cut(phase, hooks);
  for (Piece& piece : pieces) {
    if (piece.kernels.size() < 2) continue;
    Kernel::Tag tag;
    tag.text = fmt::format("{} kernels as one", piece.kernels.size());
    tag.name = nvtx::intern(tag.text);
    tag.phase = phase;
    piece.joined = device_.join(stream_, std::move(tag), piece.kernels, arguments);
  }
  return &pieces;
}

/// Cuts a phase at ops that the processor computes, and where the host acts before or after an op.
Executor::Pieces Executor::cut(Phase phase, const OpHooks& hooks) const {
  Pieces pieces;
  bool open = false;
  for (const Op& op : ops_of_phase_[static_cast<std::size_t>(phase)]) {
    if (graph_.node(op.node).on_processor) {
      pieces.push_back({.first = op.node, .last = op.node, .on_processor = true});
      open = false;
      continue;
    }
    if (hooks.before && (!hooks.acts_before || hooks.acts_before(op.node))) open = false;
    if (!open) pieces.push_back({.first = op.node, .last = op.node});
    Piece& piece = pieces.back();
    piece.last = op.node;
    for (const auto& kernel : compiled_.kernels(op.node)) piece.kernels.push_back(kernel.get());
    open = !hooks.after || (hooks.acts && !hooks.acts(op.node));
  }
  return pieces;
}

void Executor::run(const Pieces& pieces, const LaunchArguments& arguments, const OpHooks& hooks) {
  for (const Piece& piece : pieces) {
    if (hooks.before) hooks.before(piece.first);
    if (piece.on_processor) run_on_processor(piece.last, arguments);
    if (!piece.kernels.empty()) {
      if (options_.launch_cost.count() > 0) device_.clock().spend(options_.launch_cost);
      device_.launch(stream_, piece.joined ? *piece.joined : *piece.kernels.front(), arguments);
    }
    if (hooks.after) hooks.after(piece.last);
  }
}

void Executor::run(Phase phase, const LaunchArguments& arguments, const OpHooks& hooks) {
  if (options_.join_launches)
    if (const Pieces* together = pieces(phase, arguments, hooks))
      return run(*together, arguments, hooks);
  for (const Op& op : ops_of_phase_[static_cast<std::size_t>(phase)]) {
    if (hooks.before) hooks.before(op.node);
    nvtx::Range range(op.name, op.payload);
    compiled_.allocate_for(op.node);
    if (graph_.node(op.node).on_processor) run_on_processor(op.node, arguments);
    for (const auto& kernel : compiled_.kernels(op.node)) {
      if (!device_.launches(*kernel, arguments)) continue;
      if (options_.launch_cost.count() > 0) device_.clock().spend(options_.launch_cost);
      device_.launch(stream_, *kernel, arguments);
    }
    if (hooks.after) hooks.after(op.node);
    compiled_.free_after(op.node);
    // An op without kernels is not on the stream.
    if (compiled_.kernels(op.node).empty() && !graph_.node(op.node).on_processor) continue;
    if (options_.sync_every == 0 || ++ops_since_sync_ < options_.sync_every) continue;
    ops_since_sync_ = 0;
    device_.synchronize(stream_);
  }
}

void publish_graph(const Graph& graph, std::int64_t first_op_id, const std::vector<bool>& runs) {
  for (std::size_t i = 0; i < graph.node_count(); ++i)
    if (runs.empty() || runs[i])
      nvtx::describe(payload_of(graph, graph.nodes()[i], first_op_id + static_cast<std::int64_t>(i),
                                first_op_id));
}

}  // namespace headway::trainer
