// SPDX-License-Identifier: MIT
// Attention as one op, and the ops of attention without fusion.
#include "kernels/attention/op.h"

#include "kernels/softmax/op.h"
#include "reference_trainer/devices/host/ops/host_ops.h"

namespace headway::trainer::host {
namespace {

using kernels::AttentionShape;
using Kernel = void (*)(HostGraph& graph, const Node& node);

template <class Attributes>
const Attributes& attributes(const Node& node) {
  return std::get<Attributes>(node.attributes);
}

void add(HostGraph& graph, NodeId id, Kernel kernel) {
  const Node& node = graph.graph().node(id);
  graph.add_kernel(id, [&graph, &node, kernel](const LaunchArguments&) { kernel(graph, node); });
}

const Shape& result_shape(const HostGraph& graph, const Node& node) {
  return graph.graph().value(node.outputs[0]).shape;
}

}  // namespace

void add_attention(HostGraph& graph, NodeId id) {
  add(graph, id, [](HostGraph& g, const Node& n) {
    kernels::attention_forward(attributes<AttentionShape>(n), g.address(n.inputs[0]),
                               g.address(n.outputs[0]), g.address(n.outputs[1]));
  });
}

void add_attention_backward(HostGraph& graph, NodeId id) {
  add(graph, id, [](HostGraph& g, const Node& n) {
    kernels::attention_backward(attributes<AttentionShape>(n), g.address(n.inputs[0]),
                                g.address(n.inputs[1]), g.address(n.inputs[2]),
                                g.address(n.inputs[3]), g.address(n.outputs[0]));
  });
}

void add_split_heads(HostGraph& graph, NodeId id) {
  add(graph, id, [](HostGraph& g, const Node& n) {
    kernels::split_heads(attributes<AttentionShape>(n), g.address(n.inputs[0]),
                         g.address(n.outputs[0]), g.address(n.outputs[1]), g.address(n.outputs[2]));
  });
}

void add_split_heads_backward(HostGraph& graph, NodeId id) {
  add(graph, id, [](HostGraph& g, const Node& n) {
    kernels::join_heads(attributes<AttentionShape>(n), g.address(n.inputs[0]),
                        g.address(n.inputs[1]), g.address(n.inputs[2]), g.address(n.outputs[0]));
  });
}

void add_merge_heads(HostGraph& graph, NodeId id) {
  add(graph, id, [](HostGraph& g, const Node& n) {
    kernels::merge_heads(attributes<AttentionShape>(n), g.address(n.inputs[0]),
                         g.address(n.outputs[0]));
  });
}

void add_merge_heads_backward(HostGraph& graph, NodeId id) {
  add(graph, id, [](HostGraph& g, const Node& n) {
    kernels::split_merged(attributes<AttentionShape>(n), g.address(n.inputs[0]),
                          g.address(n.outputs[0]));
  });
}

void add_attention_mask(HostGraph& graph, NodeId id) {
  add(graph, id, [](HostGraph& g, const Node& n) {
    kernels::attention_mask(attributes<AttentionShape>(n), g.address(n.inputs[0]),
                            g.address(n.outputs[0]));
  });
}

void add_roll(HostGraph& graph, NodeId id) {
  add(graph, id, [](HostGraph& g, const Node& n) {
    const auto& roll = attributes<RollAttributes>(n);
    kernels::roll_rows(roll.batch, roll.length, result_shape(g, n)[1], roll.shift,
                       g.address(n.inputs[0]), g.address(n.outputs[0]));
  });
}

void add_batched_matmul(HostGraph& graph, NodeId id) {
  add(graph, id, [](HostGraph& g, const Node& n) {
    kernels::batched_matmul(attributes<kernels::BatchedMatmul>(n), g.address(n.inputs[0]),
                            g.address(n.inputs[1]), g.address(n.outputs[0]));
  });
}

void add_softmax(HostGraph& graph, NodeId id) {
  add(graph, id, [](HostGraph& g, const Node& n) {
    const Shape& s = result_shape(g, n);
    kernels::softmax_forward(s[0], s[1], g.address(n.inputs[0]), g.address(n.outputs[0]));
  });
}

void add_softmax_backward(HostGraph& graph, NodeId id) {
  add(graph, id, [](HostGraph& g, const Node& n) {
    const Shape& s = result_shape(g, n);
    kernels::softmax_backward(s[0], s[1], g.address(n.inputs[0]), g.address(n.inputs[1]),
                              g.address(n.outputs[0]));
  });
}

}  // namespace headway::trainer::host
