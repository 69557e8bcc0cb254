// SPDX-License-Identifier: MIT
#include "reference_trainer/passes/fuse_attention.h"

#include "reference_trainer/ops/op.h"
#include "reference_trainer/passes/rewrite.h"

namespace headway::trainer {
namespace {

/// The nodes from the split to the merge, in order; empty when the ops are not such a chain.
std::vector<NodeId> find_chain(const Graph& graph, const Rewrite& rewrite, NodeId softmax) {
  auto before = [&](NodeId of, const OpDefinition& op) {
    return of.valid() ? rewrite.sole_producer(graph.node(of).inputs[0], op) : of;
  };
  const NodeId mask = before(softmax, ops::kAttentionMask);
  const NodeId scale = before(mask, ops::kScale);
  const NodeId scores = before(scale, ops::kBatchedMatmul);
  const NodeId split = before(scores, ops::kSplitHeads);
  if (!split.valid()) return {};
  const NodeId values = rewrite.sole_reader(graph.node(softmax).outputs[0], ops::kBatchedMatmul);
  if (!values.valid()) return {};
  const Node& parts = graph.node(split);
  if (graph.node(scores).inputs[1] != parts.outputs[1] ||
      graph.node(values).inputs[1] != parts.outputs[2])
    return {};
  const NodeId merge = rewrite.sole_reader(graph.node(values).outputs[0], ops::kMergeHeads);
  if (!merge.valid()) return {};
  return {split, scores, scale, mask, softmax, values, merge};
}

}  // namespace

int fuse_attention(Graph& graph) {
  Rewrite rewrite(graph);
  const std::size_t node_count = graph.node_count();
  for (std::size_t i = 0; i < node_count; ++i) {
    if (graph.nodes()[i].op != &ops::kSoftmax) continue;
    std::vector<NodeId> old = find_chain(graph, rewrite, NodeId::from(i));
    if (old.empty()) continue;
    const Node split = graph.node(old.front());
    const auto shape = std::get<kernels::AttentionShape>(split.attributes);
    Node fused = graph.node(old.back());
    fused.op = &ops::kAttention;
    fused.inputs = split.inputs;
    if (shape.shift > 0) {
      const NodeId roll = rewrite.sole_producer(split.inputs[0], ops::kRoll);
      const NodeId back = rewrite.sole_reader(fused.outputs[0], ops::kRoll);
      if (!roll.valid() || !back.valid()) continue;
      fused.inputs = graph.node(roll).inputs;
      fused.outputs = graph.node(back).outputs;
      old.insert(old.begin(), roll);
      old.push_back(back);
    }
    Value sums;
    sums.name = fused.name + ".lse";
    sums.shape = {shape.groups() * shape.window};
    fused.outputs.push_back(graph.add_value(std::move(sums)));
    rewrite.replace(old, std::move(fused));
  }
  return rewrite.apply();
}

}  // namespace headway::trainer
