// SPDX-License-Identifier: MIT
// Images from NHWC to NCHW and back by oneDNN's reorder, and insertion of zeros.
#include "reference_trainer/devices/host/dnnl_call.h"
#include "reference_trainer/devices/host/ops/host_ops.h"
#include "reference_trainer/ops/insert_zeros.h"

namespace headway::trainer::host {

void add_layout_change(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const dnnl::memory::desc from = graph.layout(node.inputs[0]);
  const dnnl::memory::desc to = graph.layout(node.outputs[0]);
  const dnnl::reorder::primitive_desc plan(graph.engine(), from, graph.engine(), to,
                                           DnnlCall::attributes());
  auto call =
      DnnlCall::make(graph, dnnl::reorder(plan),
                     {{DNNL_ARG_FROM, node.inputs[0], from}, {DNNL_ARG_TO, node.outputs[0], to}},
                     plan.scratchpad_desc());
  graph.add_kernel(id, [call](const LaunchArguments& a) { call->run(a.slot); });
}

void add_insert_zeros(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const kernels::InsertZeros shape = ops::zeros_of(graph.graph(), node);
  graph.add_kernel(id, [&graph, &node, shape](const LaunchArguments&) {
    kernels::insert_zeros(shape, graph.address(node.inputs[0]), graph.address(node.outputs[0]));
  });
}

}  // namespace headway::trainer::host
