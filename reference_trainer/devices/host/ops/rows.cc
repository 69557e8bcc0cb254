// SPDX-License-Identifier: MIT
// Elementwise ops, alone and in clusters, as row programs (kernels/row_program/op.h); column sums.
#include "kernels/cast/op.h"
#include "kernels/column_sum/op.h"
#include "reference_trainer/devices/host/ops/host_ops.h"
#include "reference_trainer/ops/elementwise.h"

namespace headway::trainer::host {
namespace {

/// A program and the addresses of its operands, set once memory is allocated.
struct BoundProgram {
  kernels::RowProgram program;
  std::vector<const float*> inputs;
  std::vector<float*> outputs;
};

}  // namespace

void add_row_program(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  auto bound = std::make_shared<BoundProgram>();
  bound->program = ops::row_program(graph.graph(), node);
  graph.when_bound([&graph, &node, bound] {
    for (ValueId input : node.inputs) bound->inputs.push_back(graph.address(input));
    for (ValueId output : node.outputs) bound->outputs.push_back(graph.address(output));
  });
  graph.add_kernel(id, [bound](const LaunchArguments& a) {
    kernels::run_row_program(bound->program, bound->inputs, bound->outputs,
                             static_cast<std::uint64_t>(a.batch));
  });
}

/// Casts the whole layout, including its padding: weights are cast in their own layout.
void add_cast(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto format = std::get<RowAttributes>(node.attributes).format;
  auto bytes = std::make_shared<std::size_t>(0);
  graph.when_bound([&graph, &node, bytes] { *bytes = graph.layout(node.inputs[0]).get_size(); });
  graph.add_kernel(id, [&graph, &node, format, bytes](const LaunchArguments& a) {
    kernels::round_to(format, static_cast<std::int64_t>(*bytes / sizeof(float)),
                      graph.address(node.inputs[0], a.slot), graph.address(node.outputs[0]));
  });
}

void add_column_sum(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto over = ops::iteration(graph.graph(), node);
  graph.add_kernel(id, [&graph, &node, over](const LaunchArguments&) {
    kernels::column_sum(over.rows, over.columns, graph.address(node.inputs[0]),
                        graph.address(node.outputs[0]));
  });
}

}  // namespace headway::trainer::host
