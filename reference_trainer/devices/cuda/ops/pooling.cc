// SPDX-License-Identifier: MIT
#include "kernels/max_pool/launch.h"
#include "kernels/mean_pool/launch.h"
#include "reference_trainer/devices/cuda/cuda_ops.h"

namespace headway::trainer::cuda_device {

void add_pool(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const Shape in = graph.shape(node.inputs[0]);
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand x = graph.input(id, node.inputs[0], format);
  const Operand y = graph.operand(node.outputs[0]);
  graph.add_launches(id, [=, &graph](int slot) -> Launches {
    return {kernels::cuda::mean_pool_forward(graph.limits(), format, in[0], in[1] * in[2], in[3],
                                             x.at(slot), y.at())};
  });
}

void add_pool_backward(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const Shape in = graph.shape(node.outputs[0]);
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand dy = graph.input(id, node.inputs[0], format);
  const Operand dx = graph.operand(node.outputs[0]);
  graph.add_launches(id, [=, &graph](int) -> Launches {
    return {kernels::cuda::mean_pool_backward(graph.limits(), format, in[0], in[1] * in[2], in[3],
                                              dy.at(), dx.at())};
  });
}

void add_max_pool(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto shape = std::get<kernels::MaxPoolShape>(node.attributes);
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand x = graph.input(id, node.inputs[0], format);
  const Operand y = graph.operand(node.outputs[0]);
  const Operand places = graph.operand(node.outputs[1]);
  graph.add_launches(id, [=, &graph](int slot) -> Launches {
    return {kernels::cuda::max_pool_forward(graph.limits(), format, shape, x.at(slot), y.at(),
                                            places.at<std::uint8_t>())};
  });
}

void add_max_pool_backward(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto shape = std::get<kernels::MaxPoolShape>(node.attributes);
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand dy = graph.input(id, node.inputs[0], format);
  const Operand places = graph.operand(node.inputs[1]);
  const Operand dx = graph.operand(node.outputs[0]);
  graph.add_launches(id, [=, &graph](int) -> Launches {
    return {kernels::cuda::max_pool_backward(graph.limits(), format, shape, dy.at(),
                                             places.at<std::uint8_t>(), dx.at())};
  });
}

}  // namespace headway::trainer::cuda_device
