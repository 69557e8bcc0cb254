// SPDX-License-Identifier: MIT
// Batch normalisation (mathematics in kernels/batch_norm/op.h), alone and fused with what follows it.
// The three types share one set of operands:
//   inputs  x, gamma, beta, running mean, running variance [, residual]
//   outputs y, saved mean, saved rstd [, mask]      (y alone in inference)
#include "kernels/batch_norm/op.h"

#include "reference_trainer/ops/batch_norm.h"
#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

using kernels::BatchNormShape;
using kernels::Epilogue;

Work forward_work(const Graph& graph, const Node& node) {
  const auto& attributes = std::get<BatchNormAttributes>(node.attributes);
  const BatchNormShape shape = batch_norm_shape(graph, node.inputs[0]);
  return attributes.training ? kernels::batch_norm_forward_work(shape, attributes.epilogue)
                             : kernels::batch_norm_inference_work(shape, attributes.epilogue);
}

Work backward_work(const Graph& graph, const Node& node) {
  const auto& attributes = std::get<BatchNormAttributes>(node.attributes);
  return kernels::batch_norm_backward_work(batch_norm_shape(graph, node.inputs[0]),
                                           attributes.epilogue);
}

void differentiate(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const Epilogue epilogue = std::get<BatchNormAttributes>(node.attributes).epilogue;
  const ValueId x = node.inputs[0];
  const ValueId gamma = node.inputs[1];
  const ValueId beta = node.inputs[2];
  std::vector<ValueId> inputs = {
      x, gradients.of(node.outputs[0]), gamma, beta, node.outputs[1], node.outputs[2]};
  std::vector<ValueId> like = {x, gamma, beta};
  if (epilogue == Epilogue::kAddRelu) {
    inputs.push_back(node.outputs[3]);
    like.push_back(node.inputs[5]);
  }
  const OpDefinition& op = epilogue == Epilogue::kNone   ? kBatchNormBackward
                           : epilogue == Epilogue::kRelu ? kBnReluBackward
                                                         : kBnAddReluBackward;
  const std::vector<ValueId> outputs = gradients.emit(op, id, inputs, like);
  for (std::size_t i = 0; i < like.size(); ++i) gradients.accumulate(id, like[i], outputs[i]);
}

}  // namespace

const OpDefinition kBatchNorm{"batch_norm", "x, gamma, beta, running statistics -> y, statistics",
                              forward_work, differentiate};
const OpDefinition kBnRelu{"bn_relu", "batch_norm and relu in one pass", forward_work,
                           differentiate};
const OpDefinition kBnAddRelu{"bn_add_relu", "batch_norm, add and relu in one pass", forward_work,
                              differentiate};
const OpDefinition kBatchNormBackward{"batch_norm_backward", "x, dy, ... -> dx, dgamma, dbeta",
                                      backward_work};
const OpDefinition kBnReluBackward{"bn_relu_backward", "x, dy, ... -> dx, dgamma, dbeta",
                                   backward_work};
const OpDefinition kBnAddReluBackward{
    "bn_add_relu_backward", "x, dy, ..., mask -> dx, dgamma, dbeta, dresidual", backward_work};

kernels::BatchNormShape batch_norm_shape(const Graph& graph, ValueId x) {
  const Shape& shape = graph.value(x).shape;
  return {shape.elements() / shape.last(), static_cast<int>(shape.last())};
}

ValueId batch_norm(Graph& graph, const std::string& name, ValueId x, bool training) {
  const Shape shape = graph.value(x).shape;
  const Shape channels{shape.last()};
  const ValueId gamma =
      add_parameter(graph, name + ".weight", channels, {Initial::Kind::kConstant, 1});
  const ValueId beta =
      add_parameter(graph, name + ".bias", channels, {Initial::Kind::kConstant, 0});
  const ValueId mean = add_state(graph, name + ".running_mean", channels, 0);
  const ValueId variance = add_state(graph, name + ".running_variance", channels, 1);
  BatchNormAttributes attributes;
  attributes.training = training;
  std::vector<ValueId> outputs = {add_output(graph, name, shape)};
  if (training) {
    outputs.push_back(add_output(graph, name + ".mean", channels));
    outputs.push_back(add_output(graph, name + ".rstd", channels));
  }
  graph.add_node({&kBatchNorm,
                  name,
                  Phase::kForward,
                  NodeId::none(),
                  {x, gamma, beta, mean, variance},
                  outputs,
                  attributes});
  return outputs[0];
}

}  // namespace headway::trainer::ops
