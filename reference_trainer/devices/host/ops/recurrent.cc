// SPDX-License-Identifier: MIT
// LSTM layers as one kernel, or as two kernels for every time step; and moves of rows.
#include "kernels/lstm/op.h"

#include <cstring>

#include "kernels/sequence/op.h"
#include "reference_trainer/devices/host/ops/host_ops.h"

namespace headway::trainer::host {
namespace {

using kernels::LstmShape;

const LstmAttributes& attributes(const Node& node) {
  return std::get<LstmAttributes>(node.attributes);
}

std::int64_t used(const HostGraph& graph, const Node& node, std::size_t operand, int slot) {
  const LstmAttributes& by = attributes(node);
  return kernels::used_steps(
      by.shape, graph.address<std::int32_t>(node.inputs[operand], slot) + by.first_token);
}

kernels::LstmForward forward_arguments(const HostGraph& graph, const Node& node) {
  return {graph.address(node.inputs[0]),  static_cast<const float*>(graph.scratch()),
          graph.address(node.outputs[1]), graph.address(node.outputs[2]),
          graph.address(node.outputs[0]), graph.address(node.outputs[3])};
}

kernels::LstmBackward backward_arguments(const HostGraph& graph, const Node& node) {
  auto* const scratch = static_cast<float*>(graph.scratch());
  const LstmShape& s = attributes(node).shape;
  return {graph.address(node.inputs[0]),  graph.address(node.inputs[1]),
          graph.address(node.inputs[2]),  graph.address(node.inputs[3]),
          graph.address(node.outputs[0]), scratch,
          scratch + s.rows * s.hidden};
}

}  // namespace

void add_lstm(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const LstmShape& s = attributes(node).shape;
  graph.need_scratch(static_cast<std::size_t>(s.hidden * s.gate_columns()) * sizeof(float));
  auto pack = [&graph, &node, &s] {
    kernels::lstm_pack(s, graph.address(node.inputs[1]), static_cast<float*>(graph.scratch()));
  };
  if (attributes(node).persistent) {
    graph.add_kernel(
        id,
        [=, &graph, &node, &s](const LaunchArguments& a) {
          pack();
          kernels::lstm_forward(s, used(graph, node, 2, a.slot), forward_arguments(graph, node));
        },
        "persistent_lstm");
    return;
  }
  for (std::int64_t step = 0; step < s.steps; ++step) {
    graph.add_kernel(
        id,
        [=, &graph, &node, &s](const LaunchArguments& a) {
          if (step == 0) pack();
          if (step < used(graph, node, 2, a.slot))
            kernels::lstm_step_product(s, step, forward_arguments(graph, node));
        },
        "gemm", kernels::lstm_product_work(s));
    graph.add_kernel(
        id,
        [=, &graph, &node, &s](const LaunchArguments& a) {
          const std::int64_t steps = used(graph, node, 2, a.slot);
          const kernels::LstmForward arguments = forward_arguments(graph, node);
          if (step < steps) kernels::lstm_step_cell(s, step, arguments);
          if (step + 1 == s.steps) kernels::lstm_clear_forward(s, steps, arguments);
        },
        "lstm_cell", kernels::lstm_cell_work(s));
  }
}

void add_lstm_backward(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const LstmShape& s = attributes(node).shape;
  graph.need_scratch(static_cast<std::size_t>(2 * s.rows * s.hidden) * sizeof(float));
  if (attributes(node).persistent) {
    graph.add_kernel(
        id,
        [&graph, &node, &s](const LaunchArguments& a) {
          kernels::lstm_backward(s, used(graph, node, 4, a.slot), backward_arguments(graph, node));
        },
        "persistent_lstm");
    return;
  }
  for (std::int64_t step = s.steps; step-- > 0;) {
    graph.add_kernel(
        id,
        [=, &graph, &node, &s](const LaunchArguments& a) {
          const std::int64_t steps = used(graph, node, 4, a.slot);
          const kernels::LstmBackward arguments = backward_arguments(graph, node);
          if (step + 1 == s.steps) {
            std::memset(graph.scratch(), 0,
                        static_cast<std::size_t>(2 * s.rows * s.hidden) * sizeof(float));
            kernels::lstm_clear_backward(s, steps, arguments);
          }
          if (step < steps) kernels::lstm_backward_cell(s, step, arguments);
        },
        "lstm_cell", kernels::lstm_cell_work(s));
    if (step == 0) continue;  // step 0 has no earlier step
    graph.add_kernel(
        id,
        [=, &graph, &node, &s](const LaunchArguments& a) {
          if (step < used(graph, node, 4, a.slot))
            kernels::lstm_backward_product(s, step, backward_arguments(graph, node));
        },
        "gemm", kernels::lstm_product_work(s));
  }
}

void add_split_rows(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  graph.add_kernel(id, [&graph, &node](const LaunchArguments&) {
    const float* from = graph.address(node.inputs[0]);
    for (ValueId output : node.outputs) {
      const std::int64_t count = graph.graph().value(output).shape.elements();
      std::memcpy(graph.address(output), from, static_cast<std::size_t>(count) * sizeof(float));
      from += count;
    }
  });
}

void add_join_rows(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  graph.add_kernel(id, [&graph, &node](const LaunchArguments&) {
    float* to = graph.address(node.outputs[0]);
    for (ValueId input : node.inputs) {
      const std::int64_t count = graph.graph().value(input).shape.elements();
      std::memcpy(to, graph.address(input), static_cast<std::size_t>(count) * sizeof(float));
      to += count;
    }
  });
}

void add_swap_major(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto by = std::get<SwapAttributes>(node.attributes);
  const std::int64_t columns =
      graph.graph().value(node.inputs[0]).shape.elements() / (by.outer * by.inner);
  graph.add_kernel(id, [&graph, &node, by, columns](const LaunchArguments&) {
    kernels::swap_major(by.outer, by.inner, columns, graph.address(node.inputs[0]),
                        graph.address(node.outputs[0]));
  });
}

/// The tokens hold the source first, then the target.
void add_padding_mask(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto by = std::get<SwapAttributes>(node.attributes);
  const std::int64_t length = graph.graph().value(node.inputs[0]).shape[1];
  graph.add_kernel(id, [&graph, &node, by, length](const LaunchArguments& a) {
    kernels::padding_mask(by.outer, by.inner, length,
                          graph.address<std::int32_t>(node.inputs[1], a.slot),
                          graph.address(node.inputs[0]), graph.address(node.outputs[0]));
  });
}

}  // namespace headway::trainer::host
