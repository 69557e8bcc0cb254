// SPDX-License-Identifier: MIT
// A layer of experts by our own kernels, and the copy that ranks exchange (comm/model_exchanges.h).
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernels/experts/op.h"
#include "reference_trainer/devices/host/ops/host_ops.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer::host {
namespace {

const RouteAttributes& routing(const Node& node) {
  return std::get<RouteAttributes>(node.attributes);
}

std::int64_t columns_of(const HostGraph& graph, ValueId rows) {
  return graph.graph().value(rows).shape[1];
}

}  // namespace

void add_route(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  graph.add_kernel(id, [&graph, &node](const LaunchArguments&) {
    const RouteAttributes& by = routing(node);
    kernels::route_tokens(
        by.shape, by.favour ? by.favour->data() : nullptr, graph.address(node.inputs[0]),
        graph.address<std::int32_t>(node.outputs[0]), graph.address(node.outputs[1]));
  });
}

void add_route_backward(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  graph.add_kernel(id, [&graph, &node](const LaunchArguments&) {
    kernels::route_tokens_backward(routing(node).shape, graph.address<std::int32_t>(node.inputs[0]),
                                   graph.address(node.inputs[1]), graph.address(node.outputs[0]));
  });
}

void add_dispatch(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const std::int64_t columns = columns_of(graph, node.inputs[0]);
  graph.add_kernel(id, [&graph, &node, columns](const LaunchArguments&) {
    kernels::dispatch_tokens(routing(node).shape, columns,
                             graph.address<std::int32_t>(node.inputs[1]),
                             graph.address(node.inputs[0]), graph.address(node.outputs[0]));
  });
}

void add_dispatch_backward(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const std::int64_t columns = columns_of(graph, node.outputs[0]);
  graph.add_kernel(id, [&graph, &node, columns](const LaunchArguments&) {
    kernels::dispatch_tokens_backward(
        routing(node).shape, columns, graph.address<std::int32_t>(node.inputs[1]),
        static_cast<float>(routing(node).ranks), graph.address(node.inputs[0]),
        graph.address(node.outputs[0]));
  });
}

void add_combine(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const std::int64_t columns = columns_of(graph, node.inputs[0]);
  graph.add_kernel(id, [&graph, &node, columns](const LaunchArguments&) {
    kernels::combine_tokens(routing(node).shape, columns,
                            graph.address<std::int32_t>(node.inputs[1]),
                            graph.address(node.inputs[2]), graph.address(node.inputs[0]),
                            graph.address(node.outputs[0]));
  });
}

void add_combine_backward(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const std::int64_t columns = columns_of(graph, node.inputs[0]);
  graph.add_kernel(id, [&graph, &node, columns](const LaunchArguments&) {
    kernels::combine_tokens_backward(
        routing(node).shape, columns, graph.address<std::int32_t>(node.inputs[2]),
        graph.address(node.inputs[3]), graph.address(node.inputs[1]),
        1 / static_cast<float>(routing(node).ranks), graph.address(node.inputs[0]),
        graph.address(node.outputs[0]), graph.address(node.outputs[1]));
  });
}

/// Copies the operand; the exchange follows, in place in the result.
void add_exchange(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto& by = std::get<ExchangeAttributes>(node.attributes);
  const auto from = static_cast<std::size_t>(graph.graph().value(node.inputs[0]).bytes());
  const auto to = static_cast<std::size_t>(graph.graph().value(node.outputs[0]).bytes());
  const std::size_t part = std::min(from, to);
  const auto rank = static_cast<std::size_t>(by.rank);
  const std::size_t read = from > to ? rank * part : 0;
  const std::size_t written = to > from ? rank * part : 0;
  graph.add_kernel(id, [&graph, &node, part, read, written](const LaunchArguments&) {
    std::memcpy(graph.address<std::byte>(node.outputs[0]) + written,
                graph.address<std::byte>(node.inputs[0]) + read, part);
  });
}

}  // namespace headway::trainer::host
