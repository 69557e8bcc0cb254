// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "reference_trainer/graph/graph.h"

namespace headway::trainer::sim {

/// One of the kernels of a node.
struct KernelPart {
  std::string_view name;  ///< in the kernel's name; empty: the op is one kernel
  Work work;              ///< of FP32 operands
  /// For a recurrent layer: the kernel's time step, and the number of time steps; -1: the kernel
  /// covers all.
  std::int64_t time_step = -1;
  std::int64_t time_steps = 0;
};

/// The kernels of a node, in order: the same that the host device launches for it
/// (tests/reference_trainer/sim_device_test.cc compares them). Empty for an op that a GPU does not
/// have, because its matrix units do it in passing, and for an op that the processor runs.
std::vector<KernelPart> kernel_parts(const Graph& graph, const Node& node);

/// The share of the FP32 operands' bytes that remains where some are stored in half precision,
/// 0.5..1.
double stored_share(const Graph& graph, const Node& node);

/// The share of its operands' bytes that is divided among the blocks of a kernel of this node,
/// 0..1. All bytes are, except weights, which every block reads again, and gradients of weights,
/// which are summed over all samples. Kernels of the update divide the weights.
double divided_share(const Graph& graph, const Node& node);

/// The arithmetic unit of a node's products, and the type of their operands.
struct Arithmetic {
  conventions::MathUnit unit = conventions::MathUnit::kGeneral;
  bool half_operands = false;
  bool int8_operands = false;
  /// "f32", "tf32", "bf16", "f16" or "i8", as in kernel names; empty without products.
  std::string_view operands = {};
};
Arithmetic arithmetic(const Graph& graph, const Node& node);

}  // namespace headway::trainer::sim
