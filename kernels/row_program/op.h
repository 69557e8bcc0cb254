// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/loops/row_op.h"
#include "kernels/number_format.h"

namespace headway::kernels {

/// An instruction. Its operands are numbers of values: inputs first, then the results of the
/// instructions, in order.
struct RowInstruction {
  RowOp op = RowOp::kAdd;
  int a = 0;
  int b = -1;  ///< -1: none
  float constant = 0;
  std::uint32_t key = 0;  ///< kDropout: number of the dropout in the model
  NumberFormat format = NumberFormat::kFloat32;
};

struct RowProgram {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<RowKind> inputs;
  std::vector<RowInstruction> instructions;
  std::vector<int> outputs;  ///< values to be written to memory

  /// The kind of each value, instruction by instruction.
  std::vector<RowKind> kinds() const;
  /// Whether the program ignores rows: every value is full and nothing is summed along a row.
  bool is_flat() const;
  /// 1 for each arithmetic operation that an instruction does per element.
  std::int64_t flops() const;
};

/// The initial value of dropout's hash, from an instruction's key and the run's seed.
std::uint32_t dropout_key(std::uint32_t key, std::uint64_t seed);

/// Runs the program. Inputs and outputs have the program's order and their kinds' sizes; an output
/// may be the address of a full input (then the element is read before it is written). `seed`
/// changes dropout from step to step.
void run_row_program(const RowProgram& program, std::span<const float* const> inputs,
                     std::span<float* const> outputs, std::uint64_t seed);

}  // namespace headway::kernels
