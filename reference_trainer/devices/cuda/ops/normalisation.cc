// SPDX-License-Identifier: MIT
// batch_norm, bn_relu, bn_add_relu and their gradients by our own kernels
// (kernels/batch_norm/launch.h). Arrays have the format of y or dx; statistics and parameters of
// channels are FP32.
#include "kernels/batch_norm/launch.h"
#include "reference_trainer/devices/cuda/cuda_ops.h"
#include "reference_trainer/ops/batch_norm.h"

namespace headway::trainer::cuda_device {
namespace {

using kernels::Epilogue;
using kernels::cuda::BatchNormArrays;

Operand norm_scratch(CudaGraph& graph, NodeId id, kernels::BatchNormShape shape) {
  return graph.scratch(id, 4 * kernels::cuda::batch_norm_scratch_floats(graph.limits(), shape));
}

}  // namespace

void add_batch_norm(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto by = std::get<BatchNormAttributes>(node.attributes);
  const auto shape = ops::batch_norm_shape(graph.graph(), node.inputs[0]);
  const NumberFormat format = graph.format(node.outputs[0]);
  const bool joins = by.epilogue == Epilogue::kAddRelu;
  const Operand x = graph.input(id, node.inputs[0], format);
  const Operand residual = joins ? graph.input(id, node.inputs[5], format) : Operand();
  const Operand scratch = norm_scratch(graph, id, shape);
  graph.add_launches(id, [=, &graph, &node](int slot) -> Launches {
    BatchNormArrays a;
    a.x = x.at(slot);
    a.residual = residual.at(slot);
    a.gamma = graph.address<float>(node.inputs[1]);
    a.beta = graph.address<float>(node.inputs[2]);
    a.running_mean = graph.address<float>(node.inputs[3]);
    a.running_variance = graph.address<float>(node.inputs[4]);
    a.y = graph.address(node.outputs[0]);
    a.scratch = scratch.at<float>();
    if (!by.training)
      return kernels::cuda::batch_norm_inference(graph.limits(), format, shape, by.epilogue,
                                                 by.epsilon, a);
    a.saved_mean = graph.address<float>(node.outputs[1]);
    a.saved_rstd = graph.address<float>(node.outputs[2]);
    // The mask uses one bit per element here, in a value with one byte per element.
    if (joins) a.mask = graph.address<std::uint8_t>(node.outputs[3]);
    return kernels::cuda::batch_norm_forward(graph.limits(), format, shape, by.epilogue, by.epsilon,
                                             by.momentum, a);
  });
}

void add_batch_norm_backward(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const Epilogue epilogue = std::get<BatchNormAttributes>(node.attributes).epilogue;
  const auto shape = ops::batch_norm_shape(graph.graph(), node.inputs[0]);
  const NumberFormat format = graph.format(node.outputs[0]);
  const bool joins = epilogue == Epilogue::kAddRelu;
  const Operand x = graph.input(id, node.inputs[0], format);
  const Operand dy = graph.input(id, node.inputs[1], format);
  const Operand dresidual = joins ? graph.output(id, node.outputs[3], format) : Operand();
  const Operand scratch = norm_scratch(graph, id, shape);
  graph.add_launches(id, [=, &graph, &node](int slot) {
    BatchNormArrays a;
    a.x = x.at(slot);
    a.dy = dy.at();
    a.gamma = graph.address<float>(node.inputs[2]);
    a.beta = graph.address<float>(node.inputs[3]);
    a.saved_mean = graph.address<float>(node.inputs[4]);
    a.saved_rstd = graph.address<float>(node.inputs[5]);
    if (joins) a.mask = graph.address<std::uint8_t>(node.inputs[6]);
    a.dx = graph.address(node.outputs[0]);
    a.dgamma = graph.address<float>(node.outputs[1]);
    a.dbeta = graph.address<float>(node.outputs[2]);
    a.dresidual = dresidual.at();
    a.scratch = scratch.at<float>();
    return kernels::cuda::batch_norm_backward(graph.limits(), format, shape, epilogue, a);
  });
}

}  // namespace headway::trainer::cuda_device
