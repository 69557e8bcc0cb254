// SPDX-License-Identifier: MIT
#include "reference_trainer/passes/fuse_epilogues.h"

#include "reference_trainer/ops/fused_products.h"
#include "reference_trainer/ops/op.h"
#include "reference_trainer/passes/fuse_bias.h"
#include "reference_trainer/passes/rewrite.h"

namespace headway::trainer {
namespace {

/// The fused product that makes `value`, if `value` has only one reader.
NodeId product_of(const Rewrite& rewrite, ValueId value) {
  const NodeId convolution = rewrite.sole_producer(value, ops::kConv2dFused);
  return convolution.valid() ? convolution : rewrite.sole_producer(value, ops::kLinearFused);
}

/// If products make both operands, the later product takes the other operand as its residual.
int fuse_residuals(Graph& graph) {
  Rewrite rewrite(graph);
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    const Node& add = graph.nodes()[i];
    if (add.op != &ops::kAdd) continue;
    NodeId product;
    ValueId residual;
    for (std::size_t operand = 0; operand < 2; ++operand) {
      const NodeId its = product_of(rewrite, add.inputs[operand]);
      const ValueId other = add.inputs[1 - operand];
      const NodeId before = graph.value(other).producer;
      if (!its.valid() || (before.valid() && before.value > its.value)) continue;
      if (ops::fused_product(graph.node(its)).residual ||
          graph.value(other).shape != graph.value(add.inputs[operand]).shape)
        continue;
      if (ops::fused_product(graph.node(its)).activation != Activation::kNone) continue;
      product = its;
      residual = other;
    }
    if (!product.valid()) continue;
    Node fused = graph.node(product);
    fused.inputs.push_back(residual);
    fused.outputs = add.outputs;
    std::get<FusedProductAttributes>(fused.attributes).residual = true;
    rewrite.replace({product, NodeId::from(i)}, std::move(fused));
  }
  return rewrite.apply();
}

int fuse_activations(Graph& graph) {
  Rewrite rewrite(graph);
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    const Node& after = graph.nodes()[i];
    const bool relu = after.op == &ops::kRelu;
    if (!relu && after.op != &ops::kGelu) continue;
    const NodeId product = product_of(rewrite, after.inputs[0]);
    if (!product.valid()) continue;
    Node fused = graph.node(product);
    auto& by = std::get<FusedProductAttributes>(fused.attributes);
    if (by.activation != Activation::kNone) continue;
    by.activation = relu ? Activation::kRelu : Activation::kGelu;
    fused.outputs = after.outputs;
    rewrite.replace({product, NodeId::from(i)}, std::move(fused));
  }
  return rewrite.apply();
}

}  // namespace

int fuse_epilogues(Graph& graph) {
  int count = fuse_bias_into_product(graph, ops::kLinearFused, FusedProductAttributes{});
  count += fuse_residuals(graph);
  return count + fuse_activations(graph);
}

}  // namespace headway::trainer
