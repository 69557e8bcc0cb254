// SPDX-License-Identifier: MIT
// The loss of a detector (mathematics in kernels/multibox/op.h) as several ops: the loss of each
// anchor as background, the choice of the anchors that count, the sum over them.
#include "kernels/multibox/op.h"

#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

using kernels::MultiboxShape;

const MultiboxShape& shape_of(const Node& node) {
  return std::get<MultiboxShape>(node.attributes);
}

Work background_work(const Graph&, const Node& node) {
  return kernels::background_losses_work(shape_of(node));
}
Work pick_work(const Graph&, const Node& node) {
  const MultiboxShape& s = shape_of(node);
  return kernels::pick_hard_negatives_work(s) + kernels::compact_work(s.rows());
}
Work loss_work(const Graph&, const Node& node) {
  return node.op == &kMultiboxLoss ? kernels::multibox_loss_forward_work(shape_of(node))
                                   : kernels::multibox_loss_backward_work(shape_of(node));
}

void differentiate(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId log_probabilities = node.inputs[0];
  const ValueId offsets = node.inputs[2];
  const auto outputs = gradients.emit(kMultiboxLossBackward, id,
                                      {node.inputs[1], offsets, node.inputs[3], node.inputs[4]},
                                      {log_probabilities, offsets});
  gradients.accumulate(id, log_probabilities, outputs[0]);
  gradients.accumulate(id, offsets, outputs[1]);
}

void pick_on_processor(const Node& node, std::span<void* const> inputs,
                       std::span<void* const> outputs) {
  const MultiboxShape& s = shape_of(node);
  MultiboxShape one = s;
  one.images = 1;  // image by image, on the calling thread alone
  std::vector<std::uint8_t> picked(static_cast<std::size_t>(s.rows()));
  for (std::int64_t row = 0; row < s.rows(); row += s.anchors)
    kernels::pick_hard_negatives(one, static_cast<const float*>(inputs[0]) + row,
                                 picked.data() + row);
  kernels::compact(s.rows(), picked.data(), static_cast<std::int32_t*>(outputs[0]));
}

constexpr ProcessorForm kPickForm{pick_on_processor, 8};

ValueId pick_anchors(Graph& graph, const std::string& name, ValueId losses,
                     const MultiboxShape& shape, bool on_processor) {
  std::vector<ValueId> outputs = {add_output(graph, name, {shape.rows()}, DataType::kInt32)};
  if (!on_processor)
    outputs.push_back(add_output(graph, name + ".picked", {shape.rows()}, DataType::kUint8));
  Node node{&kPickAnchors, name, Phase::kForward, NodeId::none(), {losses}, outputs, shape};
  node.on_processor = on_processor;
  graph.add_node(std::move(node));
  return outputs[0];
}

}  // namespace

const OpDefinition kBackgroundLosses{
    "background_losses", "logarithms of the probabilities, labels -> losses as background",
    background_work};
const OpDefinition kPickAnchors{"pick_anchors", "losses -> places of the anchors that count",
                                pick_work, nullptr, &kPickForm};
const OpDefinition kMultiboxLoss{"multibox_loss",
                                 "logarithms, labels, offsets, targets, places -> loss figures",
                                 loss_work, differentiate};
const OpDefinition kMultiboxLossBackward{
    "multibox_loss_backward", "labels, offsets, targets, places -> dlogarithms, doffsets",
    loss_work};

ValueId multibox_loss(Graph& graph, const std::string& name, ValueId log_probabilities,
                      ValueId offsets, const AnchorTargets& targets, std::int64_t images,
                      bool pick_on_processor) {
  const Shape in = graph.value(log_probabilities).shape;
  require(in.rank() == 2 && in[0] % images == 0 && graph.value(offsets).shape == Shape{in[0], 4},
          kMultiboxLoss, name, "logarithms [rows, classes] and offsets [rows, 4]", in);
  require(graph.value(targets.labels).shape == Shape{in[0]} &&
              graph.value(targets.offsets).shape == Shape{in[0], 4},
          kMultiboxLoss, name, "a label and four offsets for each row",
          graph.value(targets.labels).shape);
  const MultiboxShape shape{images, in[0] / images, static_cast<int>(in[1])};
  const ValueId losses = add_forward(graph, kBackgroundLosses, name + ".background",
                                     {log_probabilities, targets.labels}, {shape.rows()}, shape);
  const ValueId rows = pick_anchors(graph, name + ".pick", losses, shape, pick_on_processor);
  const ValueId figures =
      add_forward(graph, kMultiboxLoss, name,
                  {log_probabilities, targets.labels, offsets, targets.offsets, rows}, {3}, shape);
  graph.value(figures).role = Role::kResult;
  return figures;
}

}  // namespace headway::trainer::ops
