// SPDX-License-Identifier: MIT
// Elementwise ops, alone and in clusters, as row programs (kernels/row_program/op.h); column sums.
#include "kernels/cast/op.h"
#include "kernels/column_sum/op.h"
#include "reference_trainer/devices/host/ops/host_ops.h"
#include "reference_trainer/ops/elementwise.h"

namespace headway::trainer::host {
namespace {

/// A program and the addresses of its operands in the current run.
struct RunningProgram {
  kernels::RowProgram program;
  std::vector<const float*> inputs;
  std::vector<float*> outputs;
};

}  // namespace

void add_row_program(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  auto running = std::make_shared<RunningProgram>();
  running->program = ops::row_program(graph.graph(), node);
  running->inputs.resize(node.inputs.size());
  running->outputs.resize(node.outputs.size());
  graph.add_kernel(id, [&graph, &node, running](const LaunchArguments& a) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      running->inputs[i] = graph.address(node.inputs[i]);
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      running->outputs[i] = graph.address(node.outputs[i]);
    kernels::run_row_program(running->program, running->inputs, running->outputs,
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
