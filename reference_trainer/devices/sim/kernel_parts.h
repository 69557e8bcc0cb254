// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "reference_trainer/graph/graph.h"

namespace headway::trainer::sim {

/// One of the kernels that a node runs as.
struct KernelPart {
  std::string_view name;  ///< in the kernel's name; empty: the op is one kernel
  Work work;              ///< of FP32 operands
  /// Of a recurrent layer: the time step it is for, and how many there are; -1: of all of them.
  std::int64_t time_step = -1;
  std::int64_t time_steps = 0;
};

/// The kernels that a node runs as, in order: those that the host device launches for it
/// (tests/reference_trainer/sim_device_test.cc compares them). None for an op that a GPU does not
/// have, because its matrix units do it on the way, and for one that the processor runs.
std::vector<KernelPart> kernel_parts(const Graph& graph, const Node& node);

/// How much of the bytes of FP32 operands is left where some are stored in half precision, 0.5..1.
double stored_share(const Graph& graph, const Node& node);

/// How much of the bytes of its operands a kernel of the node is divided by, 0..1: all but weights that it reads, which each
/// block reads again, and gradients of weights that it adds up from all samples. Kernels of the update are divided by weights.
double divided_share(const Graph& graph, const Node& node);

/// What multiplies in a node, and whether in FP16 or BF16.
struct Arithmetic {
  conventions::MathUnit unit = conventions::MathUnit::kGeneral;
  bool half_operands = false;
  bool int8_operands = false;
  /// "f32", "tf32", "bf16", "f16" or "i8", as kernels' names say it; empty where nothing multiplies.
  std::string_view operands = {};
};
Arithmetic arithmetic(const Graph& graph, const Node& node);

}  // namespace headway::trainer::sim
