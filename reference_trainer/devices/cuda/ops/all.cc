// SPDX-License-Identifier: MIT
#include <array>

#include "reference_trainer/devices/cuda/cuda_ops.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer {

void cuda_device::add_absent(CudaGraph& graph, NodeId id) {
  graph.refuse(id, "it has no kernel for this op yet");
}

std::span<const CudaOp> cuda_ops() {
  using namespace cuda_device;
#define HEADWAY_OP(op, host_form, cuda_form) CudaOp{&ops::op, cuda_form},
  static const std::array kAll = {HEADWAY_OPS(HEADWAY_OP)};
#undef HEADWAY_OP
  return kAll;
}

}  // namespace headway::trainer
