// SPDX-License-Identifier: MIT
// Generation of one token after another by our own kernels; caches are written in place.
#include "kernels/decode/op.h"

#include <algorithm>

#include "reference_trainer/devices/host/ops/host_ops.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer::host {
namespace {

const DecodeAttributes& decoding(const Node& node) {
  return std::get<DecodeAttributes>(node.attributes);
}

const Shape& shape_of(const HostGraph& graph, ValueId value) {
  return graph.graph().value(value).shape;
}

}  // namespace

void add_cached_attention(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  graph.add_kernel(id, [&graph, &node](const LaunchArguments& a) {
    kernels::cached_attention(decoding(node).shape, a.position, graph.address(node.inputs[0]),
                              graph.address(node.inputs[1]), graph.address(node.inputs[2]),
                              graph.address(node.outputs[0]));
  });
}

void add_fill_cache(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const std::int64_t tokens = shape_of(graph, node.inputs[0])[0] / decoding(node).shape.batch;
  graph.add_kernel(id, [&graph, &node, tokens](const LaunchArguments&) {
    kernels::fill_cache(decoding(node).shape, tokens, graph.address(node.inputs[0]),
                        graph.address(node.inputs[1]), graph.address(node.inputs[2]));
  });
}

void add_store_tokens(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const std::int64_t batch = decoding(node).shape.batch;
  const std::int64_t prompt = shape_of(graph, node.inputs[0])[0] / batch;
  const std::int64_t places = shape_of(graph, node.inputs[1])[0] / batch;
  graph.add_kernel(id, [&graph, &node, batch, prompt, places](const LaunchArguments& a) {
    const auto* from = graph.address<std::int32_t>(node.inputs[0], a.slot);
    auto* to = graph.address<std::int32_t>(node.inputs[1]);
    for (std::int64_t b = 0; b < batch; ++b)
      std::copy_n(from + b * prompt, prompt, to + b * places);
  });
}

void add_embedding_at(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const Shape& result = shape_of(graph, node.outputs[0]);
  graph.add_kernel(id, [&graph, &node, &result](const LaunchArguments& a) {
    kernels::embedding_at(result[0], result[1], a.position,
                          graph.address<std::int32_t>(node.inputs[0]),
                          graph.address(node.inputs[1]), graph.address(node.inputs[2]),
                          graph.address(node.outputs[0]));
  });
}

void add_rows_at(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const Shape& result = shape_of(graph, node.outputs[0]);
  const std::int64_t each = shape_of(graph, node.inputs[0])[0] / result[0];
  graph.add_kernel(id, [&graph, &node, &result, each](const LaunchArguments& a) {
    const std::int64_t fixed = decoding(node).position;
    const std::int64_t position = fixed >= 0 ? fixed : a.position;
    for (std::int64_t b = 0; b < result[0]; ++b)
      std::copy_n(graph.address(node.inputs[0]) + (b * each + position) * result[1], result[1],
                  graph.address(node.outputs[0]) + b * result[1]);
  });
}

void add_largest(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const Shape& logits = shape_of(graph, node.inputs[0]);
  graph.add_kernel(id, [&graph, &node, &logits](const LaunchArguments& a) {
    auto* next = graph.address<std::int32_t>(node.inputs[1]);
    kernels::largest_of_rows(logits[0], logits[1], graph.address(node.inputs[0]), next);
    if (node.inputs.size() < 3) return;
    const std::int64_t places = shape_of(graph, node.inputs[2])[0] / logits[0];
    auto* sequence = graph.address<std::int32_t>(node.inputs[2]);
    if (a.position + 1 < places)
      for (std::int64_t b = 0; b < logits[0]; ++b) sequence[b * places + a.position + 1] = next[b];
  });
}

}  // namespace headway::trainer::host
