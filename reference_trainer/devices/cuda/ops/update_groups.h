// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "kernels/cuda/tensor_table.h"
#include "reference_trainer/devices/cuda/compile.h"

namespace headway::trainer::cuda_device {

/// Values of one tensor, in the order of the node's operands.
struct TensorValues {
  ValueId parameter, gradient, first, second, direction, master;
};

/// Tensors that one launch may have together, and scratch memory for their norms.
struct Group {
  NumberFormat gradients = NumberFormat::kFloat32;
  kernels::cuda::CopyFormat copies = kernels::cuda::CopyFormat::kNone;
  std::vector<TensorValues> tensors;
  Operand parts;              ///< a double per chunk
  Operand parameter_squares;  ///< a double per tensor
  Operand other_squares;
  Operand
      between;  ///< of an update in passes, which has one tensor: an array that lies between them
};

/// The group of these formats, a new one where there is none.
Group& group_of(std::vector<Group>& groups, NumberFormat gradients,
                kernels::cuda::CopyFormat copies);
/// The tensors of an update. A kernel reads gradients of one format and writes parameters of one: there are two groups at
/// most, matrices and vectors.
std::vector<Group> deal(const CudaGraph& graph, const Node& node, const OptimizerAttributes& by);

// When memory is bound:
std::vector<kernels::cuda::TableTensor> table(const CudaGraph& graph, const Group& group);
/// All but the rate.
kernels::cuda::TableStep step_of(const CudaGraph& graph, const Node& node, const Group& group);

}  // namespace headway::trainer::cuda_device
