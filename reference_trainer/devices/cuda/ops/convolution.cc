// SPDX-License-Identifier: MIT
// Convolutions by cuDNN (kernels/cuda/cudnn/): activations NHWC and filters OHWI, or NCHW and OIHW,
// as they lie in memory. Plans are made when the graph is compiled, arguments are bound when memory
// is known, and each step launches them.
#include "kernels/cuda/cudnn/convolution.h"

#include "common/error.h"
#include "reference_trainer/devices/cuda/cuda_ops.h"

namespace headway::trainer::cuda_device {
namespace {

using cuda::ConvolutionForm;
using cuda::ConvolutionPlan;
using cuda::ConvolutionShape;

/// The values of a node by role; one of them is the result.
struct Roles {
  ConvolutionForm form;
  ValueId x, w, y;
};

ConvolutionShape shape_of(const CudaGraph& graph, NodeId id, const Roles& roles) {
  const auto& by = std::get<ConvolutionAttributes>(graph.node(id).attributes);
  const Shape& x = graph.shape(roles.x);
  const Shape& w = graph.shape(roles.w);
  if (by.channels_first) return {x[0], x[2], x[3], x[1], w[0], w[2], by.stride, by.padding, true};
  return {x[0], x[1], x[2], x[3], w[0], w[2], by.stride, by.padding};
}

/// The half format of either operand, which all three arrays then have; FP32 without one.
NumberFormat array_format(const CudaGraph& graph, NodeId id) {
  for (ValueId input : graph.node(id).inputs)
    if (graph.format(input) != NumberFormat::kFloat32) return graph.format(input);
  return NumberFormat::kFloat32;
}

std::shared_ptr<const ConvolutionPlan> make_plan(CudaGraph& graph, NodeId id, const Roles& roles,
                                                 NumberFormat format) {
  const bool tf32 = format == NumberFormat::kFloat32 && graph.tf32(id);
  try {
    return std::make_shared<const ConvolutionPlan>(graph.device().convolutions(), roles.form,
                                                   tf32 ? NumberFormat::kTf32 : format,
                                                   shape_of(graph, id, roles));
  } catch (const Error& error) {
    std::string why = error.what();
    if (why.ends_with('.')) why.pop_back();
    graph.refuse(id, why);
  }
}

void add_convolution(CudaGraph& graph, NodeId id, const Roles& roles) {
  const NumberFormat format = array_format(graph, id);
  const ValueId result = graph.node(id).outputs[0];
  auto operand = [&](ValueId value) {
    return value == result ? graph.output(id, value, format) : graph.input(id, value, format);
  };
  const Operand x = operand(roles.x);
  const Operand w = operand(roles.w);
  const Operand y = operand(roles.y);
  const auto plan = make_plan(graph, id, roles, format);
  const Operand workspace = graph.scratch(id, plan->workspace_bytes());
  // A batch has a different address in every slot.
  const bool reads_batch = graph.graph().value(roles.x).role == Role::kInput;
  const auto bound = std::make_shared<std::vector<cuda::CudnnDescriptor>>();
  graph.when_bound(id, [=, slots = reads_batch ? graph.slots() : 1] {
    bound->clear();
    for (int slot = 0; slot < slots; ++slot)
      bound->push_back(plan->bind({x.at(slot), w.at(), y.at(), workspace.at()}));
  });
  graph.add_kernel(id, [=](CUstream stream, const LaunchArguments& arguments) {
    plan->run(stream, (*bound)[reads_batch ? static_cast<std::size_t>(arguments.slot) : 0]);
  });
}

}  // namespace

void add_conv2d(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  add_convolution(graph, id,
                  {ConvolutionForm::kForward, node.inputs[0], node.inputs[1], node.outputs[0]});
}

void add_conv2d_backward_data(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  add_convolution(
      graph, id, {ConvolutionForm::kBackwardData, node.outputs[0], node.inputs[1], node.inputs[0]});
}

void add_conv2d_backward_weights(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  add_convolution(
      graph, id,
      {ConvolutionForm::kBackwardWeights, node.inputs[1], node.outputs[0], node.inputs[0]});
}

}  // namespace headway::trainer::cuda_device
