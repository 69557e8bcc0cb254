// SPDX-License-Identifier: MIT
// Elementwise ops, single and in clusters, as row programs (kernels/row_program/launch.h), which
// read and write every format; their code is generated where the device has a compiler. Also ReLU,
// additions, casts, column sums.
#include "reference_trainer/ops/elementwise.h"

#include <algorithm>

#include "common/error.h"
#include "kernels/add/launch.h"
#include "kernels/cast/launch.h"
#include "kernels/column_sum/launch.h"
#include "kernels/relu/launch.h"
#include "kernels/row_program/launch.h"
#include "reference_trainer/devices/cuda/cuda_ops.h"

namespace headway::trainer::cuda_device {

using kernels::cuda::RowArray;
using kernels::cuda::RowVariant;

namespace {

/// Compiles now, so that an error of the compiler names the op, with advice.
void compile(CudaGraph& graph, const Launch& launch) {
  try {
    graph.device().kernels().function(launch);
  } catch (const Error& error) {
    fail_internal("{}\nUse --graph-compiler interpreted, which does without NVRTC.", error.what());
  }
}

}  // namespace

void add_row_program(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const kernels::RowProgram program = ops::row_program(graph.graph(), node);
  auto make = [&graph, &node, program](int slot) -> Launches {
    auto arrays = [&](const std::vector<ValueId>& values) {
      std::vector<RowArray> list;
      for (ValueId value : values)
        list.push_back({graph.address(value, slot), graph.format(value)});
      return list;
    };
    const bool generate = graph.device().kernels().compiles();
    Launch launch = kernels::cuda::run_row_program(
        graph.limits(), program, arrays(node.inputs), arrays(node.outputs), 0,
        generate ? RowVariant::kGenerated : RowVariant::kInterpreted);
    if (generate) compile(graph, launch);
    return {std::move(launch)};
  };
  Vary vary;
  if (std::ranges::find(program.instructions, kernels::RowOp::kDropout,
                        &kernels::RowInstruction::op) != program.instructions.end())
    vary = {Vary::By::kBatch, [program](Launches& launches, const LaunchArguments& a) {
              kernels::cuda::set_row_program_seed(launches.front(), program,
                                                  static_cast<std::uint64_t>(a.batch));
            }};
  graph.add_launches(id, make, {}, {}, vary);
}

void add_cast(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const Operand x = graph.operand(node.inputs[0]);
  const Operand y = graph.operand(node.outputs[0]);
  const NumberFormat from = graph.format(node.inputs[0]);
  const NumberFormat to = graph.format(node.outputs[0]);
  const std::int64_t count = graph.shape(node.inputs[0]).elements();
  if (from == to) {  // the result of an op that already writes this format
    const auto bytes = static_cast<std::size_t>(graph.memory_size(node.outputs[0]));
    graph.add_kernel(id, [=, &graph](CUstream stream, const LaunchArguments& a) {
      HEADWAY_CU(graph.device().driver(), cuMemcpyDtoDAsync, reinterpret_cast<CUdeviceptr>(y.at()),
                 reinterpret_cast<CUdeviceptr>(x.at(a.slot)), bytes, stream);
    });
    return;
  }
  if (from != NumberFormat::kFloat32 && to != NumberFormat::kFloat32)
    graph.refuse(id, "it mixes FP16 and BF16");
  graph.add_launches(id, [=, &graph](int slot) -> Launches {
    return {kernels::cuda::cast(graph.limits(), from, to, count, x.at(slot), y.at())};
  });
}

void add_tf32_round(CudaGraph&, NodeId) {}

void add_add(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand a = graph.input(id, node.inputs[0], format);
  const Operand b = graph.input(id, node.inputs[1], format);
  const std::int64_t count = graph.shape(node.outputs[0]).elements();
  graph.add_launches(id, [=, &graph, c = graph.operand(node.outputs[0])](int slot) -> Launches {
    return {kernels::cuda::add(graph.limits(), format, count, a.at(slot), b.at(slot), c.at())};
  });
}

void add_relu(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand x = graph.input(id, node.inputs[0], format);
  const std::int64_t count = graph.shape(node.outputs[0]).elements();
  graph.add_launches(id, [=, &graph, y = graph.operand(node.outputs[0])](int slot) -> Launches {
    return {kernels::cuda::relu_forward(graph.limits(), format, count, x.at(slot), y.at())};
  });
}

void add_relu_backward(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand y = graph.input(id, node.inputs[0], format);
  const Operand dy = graph.input(id, node.inputs[1], format);
  const std::int64_t count = graph.shape(node.outputs[0]).elements();
  graph.add_launches(id, [=, &graph, dx = graph.operand(node.outputs[0])](int) -> Launches {
    return {kernels::cuda::relu_backward(graph.limits(), format, count, y.at(), dy.at(), dx.at())};
  });
}

void add_column_sum(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  add_column_sum(graph, id, node.inputs[0], node.outputs[0]);
}

void add_column_sum(CudaGraph& graph, NodeId id, ValueId x, ValueId sums) {
  const std::int64_t columns = graph.shape(x).last();
  const std::int64_t rows = graph.shape(x).elements() / columns;
  const auto plan = kernels::cuda::plan_columns(graph.limits(), rows, columns);
  const Operand scratch = graph.scratch(id, 4 * plan.scratch_floats(1));
  const Operand result = graph.output(id, sums, NumberFormat::kFloat32);
  graph.add_launches(
      id,
      [=, &graph, format = graph.format(x)](int slot) {
        return kernels::cuda::column_sum(graph.limits(), format, rows, columns,
                                         graph.address(x, slot), result.at<float>(),
                                         scratch.at<float>());
      },
      graph.node(id).outputs.size() > 1 ? "bias" : "");
}

}  // namespace headway::trainer::cuda_device
