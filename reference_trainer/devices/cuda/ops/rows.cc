// SPDX-License-Identifier: MIT
// Embedding, layer normalisation and bias-GELU.
#include "kernels/bias_activation/launch.h"
#include "kernels/embedding/launch.h"
#include "kernels/layer_norm/launch.h"
#include "reference_trainer/devices/cuda/cuda_ops.h"
#include "reference_trainer/ops/embedding.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer::cuda_device {
namespace {

using kernels::cuda::Activation;
using kernels::cuda::EmbeddingArrays;
using kernels::cuda::EmbeddingVariant;
using kernels::cuda::LayerNormArrays;
constexpr NumberFormat kFull = NumberFormat::kFloat32;

/// Up to this many entries, a table's gradient is made in order, with the same bits in every run:
/// each entry searches for its tokens. Characters and bytes have fewer entries; beyond this limit
/// the search would cost more than atomic additions.
constexpr std::int64_t kOrderedEntries = 1024;

}  // namespace

void add_embedding(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto shape =
      ops::embedding_shape(graph.graph(), node, node.inputs[0], node.inputs[1], node.outputs[0]);
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand table = graph.input(id, node.inputs[1], format);
  const Operand positions =
      node.inputs.size() > 2 ? graph.input(id, node.inputs[2], format) : Operand();
  graph.add_launches(id, [=, &graph, &node](int slot) -> Launches {
    EmbeddingArrays arrays;
    arrays.tokens = graph.address<std::int32_t>(node.inputs[0], slot);
    arrays.table = table.at();
    arrays.positions = positions.at();
    arrays.y = graph.address(node.outputs[0]);
    return {kernels::cuda::embedding_forward(graph.limits(), format, shape, arrays)};
  });
}

void add_embedding_backward(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto shape =
      ops::embedding_shape(graph.graph(), node, node.inputs[0], node.outputs[0], node.inputs[1]);
  const auto variant =
      shape.entries <= kOrderedEntries ? EmbeddingVariant::kOrdered : EmbeddingVariant::kAtomic;
  const Operand table = graph.output(id, node.outputs[0], kFull);
  const Operand positions =
      node.outputs.size() > 1 ? graph.output(id, node.outputs[1], kFull) : Operand();
  graph.add_launches(id, [=, &graph, &node](int slot) {
    EmbeddingArrays arrays;
    arrays.tokens = graph.address<std::int32_t>(node.inputs[0], slot);
    arrays.dy = graph.address(node.inputs[1]);
    arrays.dtable = table.at<float>();
    arrays.dpositions = positions.at<float>();
    return kernels::cuda::embedding_backward(graph.limits(), graph.format(node.inputs[1]), shape,
                                             arrays, variant);
  });
}

void add_layer_norm(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const Shape& in = graph.shape(node.outputs[0]);
  const kernels::LayerNormShape shape{in[0], in[1]};
  const float epsilon = std::get<LayerNormAttributes>(node.attributes).epsilon;
  const NumberFormat format = graph.format(node.outputs[0]);
  const bool adds = node.op == &ops::kAddLayerNorm;
  const std::size_t first = adds ? 2 : 1;  // index of gamma and beta, and of the statistics
  const Operand x = graph.input(id, node.inputs[0], format);
  const Operand added = adds ? graph.input(id, node.inputs[1], format) : Operand();
  const Operand sum = adds ? graph.output(id, node.outputs[1], format) : Operand();
  graph.add_launches(id, [=, &graph, &node](int slot) -> Launches {
    LayerNormArrays arrays;
    arrays.x = x.at(slot);
    arrays.added = added.at(slot);
    arrays.sum = sum.at();
    arrays.gamma = graph.address<float>(node.inputs[first]);
    arrays.beta = graph.address<float>(node.inputs[first + 1]);
    arrays.y = graph.address(node.outputs[0]);
    arrays.mean = graph.address<float>(node.outputs[first]);
    arrays.rstd = graph.address<float>(node.outputs[first + 1]);
    return {kernels::cuda::layer_norm_forward(graph.limits(), format, shape, epsilon, arrays)};
  });
}

void add_layer_norm_backward(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const Shape& in = graph.shape(node.outputs[0]);
  const kernels::LayerNormShape shape{in[0], in[1]};
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand x = graph.input(id, node.inputs[0], format);
  const Operand dy = graph.input(id, node.inputs[1], format);
  const Operand dsum = node.inputs.size() > 5 ? graph.input(id, node.inputs[5], format) : Operand();
  const Operand scratch =
      graph.scratch(id, 4 * kernels::cuda::layer_norm_scratch_floats(graph.limits(), shape));
  graph.add_launches(id, [=, &graph, &node](int) {
    LayerNormArrays arrays;
    arrays.x = x.at();
    arrays.dy = dy.at();
    arrays.gamma = graph.address<float>(node.inputs[2]);
    arrays.mean = graph.address<float>(node.inputs[3]);
    arrays.rstd = graph.address<float>(node.inputs[4]);
    arrays.dsum = dsum.at();
    arrays.dx = graph.address(node.outputs[0]);
    arrays.dgamma = graph.address<float>(node.outputs[1]);
    arrays.dbeta = graph.address<float>(node.outputs[2]);
    arrays.scratch = scratch.at<float>();
    return kernels::cuda::layer_norm_backward(graph.limits(), format, shape, arrays);
  });
}

void add_bias_gelu(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const Shape in = graph.shape(node.inputs[0]);
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand x = graph.input(id, node.inputs[0], format);
  graph.add_launches(id, [=, &graph, &node](int slot) -> Launches {
    return {kernels::cuda::bias_activation_forward(
        graph.limits(), Activation::kGelu, format, in[0], in[1], x.at(slot),
        graph.address<float>(node.inputs[1]), graph.address(node.outputs[0]))};
  });
}

void add_bias_gelu_backward(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const Shape in = graph.shape(node.inputs[0]);
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand x = graph.input(id, node.inputs[0], format);
  const Operand dy = graph.input(id, node.inputs[2], format);
  const auto plan = kernels::cuda::plan_columns(graph.limits(), in[0], in[1]);
  const Operand scratch = graph.scratch(id, 4 * plan.scratch_floats(1));
  graph.add_launches(id, [=, &graph, &node](int) {
    return kernels::cuda::bias_activation_backward(
        graph.limits(), Activation::kGelu, format, in[0], in[1], x.at(),
        graph.address<float>(node.inputs[1]), dy.at(), graph.address(node.outputs[0]),
        graph.address<float>(node.outputs[1]), scratch.at<float>());
  });
}

}  // namespace headway::trainer::cuda_device
