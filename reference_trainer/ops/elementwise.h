// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "kernels/row_program/op.h"
#include "reference_trainer/graph/graph.h"

namespace headway::trainer::ops {

/// The operation of an elementwise node on each element, without its operands; none for other ops.
/// Nodes with the same rows and columns can run as one row program (passes/fuse_elementwise.h).
std::optional<kernels::RowInstruction> row_instruction(const Node& node);

/// The rows x columns that the node iterates over: the shape of its largest operand or result.
struct RowsAndColumns {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  bool operator==(const RowsAndColumns&) const = default;
};
RowsAndColumns iteration(const Graph& graph, const Node& node);

/// How a value is indexed in such an iteration; follows from its shape.
kernels::RowKind row_kind(const Graph& graph, ValueId value, RowsAndColumns over);

/// The node alone, or a whole cluster, as a program over its inputs and outputs in their order.
kernels::RowProgram row_program(const Graph& graph, const Node& node);

/// The number format that an output of a node is rounded to, as the node says; may be TF32.
kernels::NumberFormat result_format(const Node& node, std::size_t output);

}  // namespace headway::trainer::ops
