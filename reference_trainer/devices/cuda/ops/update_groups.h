// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "kernels/cuda/tensor_table.h"
#include "reference_trainer/devices/cuda/compile.h"

namespace headway::trainer::cuda_device {

/// The values that belong to one tensor, in the order of the node's operands.
struct TensorValues {
  ValueId parameter, gradient, first, second, direction, master;
};

/// Tensors that one launch can update together, and scratch memory for their norms.
struct Group {
  NumberFormat gradients = NumberFormat::kFloat32;
  kernels::cuda::CopyFormat copies = kernels::cuda::CopyFormat::kNone;
  std::vector<TensorValues> tensors;
  Operand parts;              ///< a double per chunk
  Operand parameter_squares;  ///< a double per tensor
  Operand other_squares;
  Operand between;  ///< for an update in several passes of one tensor: array between passes
};

/// The group with these formats; added where there is none.
Group& group_of(std::vector<Group>& groups, NumberFormat gradients,
                kernels::cuda::CopyFormat copies);
/// Groups the tensors of an update. A kernel reads gradients of one format and writes parameters of
/// one format, so there are at most two groups: matrices and vectors.
std::vector<Group> deal(const CudaGraph& graph, const Node& node, const OptimizerAttributes& by);

// Valid only once memory is bound:
std::vector<kernels::cuda::TableTensor> table(const CudaGraph& graph, const Group& group);
/// Fills in all fields but the rate.
kernels::cuda::TableStep step_of(const CudaGraph& graph, const Node& node, const Group& group);

}  // namespace headway::trainer::cuda_device
