// SPDX-License-Identifier: MIT
#include "analyzer/whatif/fixed_bytes.h"

#include <algorithm>

namespace headway::analyzer {

using namespace trace;

FixedBytes::FixedBytes(const Predictor& predictor) : predictor_(predictor) {
  const Trace& trace = predictor.trace();
  for (std::uint32_t i = 0; i < trace.graph_ops.size(); ++i) {
    const GraphOp& op = trace.graph_ops[i];
    graph_ops_.emplace(Key{op.process.value, op.op}, i);
    if (op.phase == Phase::kForward) first_ = std::min(first_, op.op);
  }
}

const GraphOp* FixedBytes::find(std::uint32_t process, std::int64_t op) const {
  const auto found = graph_ops_.find({process, op});
  return found == graph_ops_.end() ? nullptr : &predictor_.trace().graph_ops[found->second];
}

/// True for an op that only changes the type of weights: it has no inputs in the graph. The first
/// op of the forward pass, which reads the samples, is excluded.
bool FixedBytes::is_weight(const GraphOp& op) const {
  const bool changes_type =
      op.type.find("cast") != std::string::npos || op.type.find("round") != std::string::npos;
  return changes_type && op.inputs.empty() && op.op > first_;
}

double FixedBytes::weights_of(const GraphOp& forward) const {
  if (forward.inputs.empty()) return 0;  // no op produces the samples, either
  std::int64_t bytes = forward.bytes - forward.output_bytes;
  for (const std::int64_t input : forward.inputs) {
    const GraphOp* producer = find(forward.process.value, input);
    if (!producer) return 0;
    if (!is_weight(*producer)) bytes -= producer->output_bytes;
  }
  return static_cast<double>(std::max<std::int64_t>(0, bytes));
}

const GraphOp* FixedBytes::graph_of(DeviceOpId kernel) const {
  const Attribution& attribution = predictor_.analysis().attribution;
  const GraphOpId node = attribution.ops[attribution.op_of[kernel.value].value].graph_op;
  return node.valid() ? &predictor_.trace().graph_ops[node.value] : nullptr;
}

double FixedBytes::share_of(DeviceOpId product) const {
  // A recurrent layer also writes data of each time step for its gradients, which is neither output
  // nor weights.
  if (predictor_.kernels().of(product).family == KernelFamily::kRecurrent) return 0;
  const GraphOp* op = graph_of(product);
  if (!op || op->bytes <= 0) return 0;
  const GraphOp* forward = op->forward_op >= 0 ? find(op->process.value, op->forward_op) : op;
  return forward ? std::min(1.0, weights_of(*forward) / static_cast<double>(op->bytes)) : 0;
}

bool FixedBytes::are_all_of(DeviceOpId kernel) const {
  const Trace& trace = predictor_.trace();
  if (const GraphOp* op = graph_of(kernel)) {
    const GraphOp* forward = op->forward_op >= 0 ? find(op->process.value, op->forward_op) : op;
    return forward && is_weight(*forward);
  }
  // A kernel of the backward pass without an op of the model adds up gradients of several batches.
  return !trace.graph_ops.empty() && trace.device_ops.op[kernel.value] < 0 &&
         predictor_.analysis().attribution.phase_of[kernel.value] == Phase::kBackward;
}

}  // namespace headway::analyzer
