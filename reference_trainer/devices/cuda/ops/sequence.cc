// SPDX-License-Identifier: MIT
// Ops that move rows: parts of a table, rows in another order; and the mask of padding.
#include "kernels/heads/launch.h"
#include "kernels/parts/launch.h"
#include "reference_trainer/devices/cuda/cuda_ops.h"

namespace headway::trainer::cuda_device {
namespace {

/// The parts of a table, image by image: rows end to end, or the maps of a detector.
std::vector<kernels::cuda::Part> parts_of(const CudaGraph& graph, std::span<const ValueId> values,
                                          std::span<const Operand> operands, std::int64_t images) {
  std::vector<kernels::cuda::Part> parts;
  for (std::size_t i = 0; i < values.size(); ++i)
    parts.push_back({operands[i].at(), graph.shape(values[i]).elements() / images});
  return parts;
}
std::int64_t images_of(const CudaGraph& graph, std::span<const ValueId> parts) {
  return graph.shape(parts[0]).rank() == 4 ? graph.shape(parts[0])[0] : 1;
}
void require_parts(const CudaGraph& graph, NodeId id, std::size_t count) {
  if (count > kernels::cuda::kMostParts) graph.refuse(id, "it has more than 16 parts");
}

}  // namespace

void add_join(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  require_parts(graph, id, node.inputs.size());
  const NumberFormat format = graph.format(node.outputs[0]);
  const std::int64_t images = images_of(graph, node.inputs);
  std::vector<Operand> parts;
  for (ValueId input : node.inputs) parts.push_back(graph.input(id, input, format));
  const Operand table = graph.operand(node.outputs[0]);
  graph.add_launches(id, [=, &graph, &node](int) -> Launches {
    return {kernels::cuda::join_parts(graph.limits(), format, images,
                                      parts_of(graph, node.inputs, parts, images), table.at())};
  });
}

void add_split(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  require_parts(graph, id, node.outputs.size());
  const NumberFormat format = graph.format(node.inputs[0]);
  const std::int64_t images = images_of(graph, node.outputs);
  std::vector<Operand> parts;
  for (ValueId output : node.outputs) parts.push_back(graph.output(id, output, format));
  const Operand table = graph.operand(node.inputs[0]);
  graph.add_launches(id, [=, &graph, &node](int slot) -> Launches {
    return {kernels::cuda::split_parts(graph.limits(), format, images,
                                       parts_of(graph, node.outputs, parts, images),
                                       table.at(slot))};
  });
}

void add_swap_major(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto by = std::get<SwapAttributes>(node.attributes);
  const std::int64_t columns = graph.shape(node.inputs[0]).elements() / (by.outer * by.inner);
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand x = graph.input(id, node.inputs[0], format);
  const Operand y = graph.operand(node.outputs[0]);
  graph.add_launches(id, [=, &graph](int slot) -> Launches {
    return {kernels::cuda::swap_major(graph.limits(), format, by.outer, by.inner, columns,
                                      x.at(slot), y.at())};
  });
}

void add_padding_mask(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto by = std::get<SwapAttributes>(node.attributes);
  const std::int64_t length = graph.shape(node.inputs[0])[1];
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand scores = graph.input(id, node.inputs[0], format);
  const Operand tokens = graph.operand(node.inputs[1]);
  const Operand masked = graph.operand(node.outputs[0]);
  graph.add_launches(id, [=, &graph](int slot) -> Launches {
    return {kernels::cuda::padding_mask(graph.limits(), format, by.outer, by.inner, length,
                                        tokens.at<std::int32_t>(slot), scores.at(), masked.at())};
  });
}

}  // namespace headway::trainer::cuda_device
