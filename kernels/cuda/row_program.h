// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "kernels/cuda/launch.h"
#include "kernels/row_program.h"

namespace headway::kernels::cuda {

/// Most values of a program: what a thread keeps, and what the parameters hold.
inline constexpr int kMostRowValues = 96;
inline constexpr int kMostRowInstructions = 64;

struct DeviceRowInstruction {
  float constant;
  std::uint32_t key;    ///< dropout: of the run
  std::uint32_t limit;  ///< dropout: of the hash, below which an element is dropped
  std::int16_t a;
  std::int16_t b;  ///< -1: none
  RowOp op;
  NumberFormat format;
};
struct RowProgramParameters {
  std::int64_t rows;
  std::int64_t columns;
  int inputs;
  int instructions;
  RowKind kinds[kMostRowValues];
  DeviceRowInstruction code[kMostRowInstructions];
  const float* from[kMostRowValues];  ///< inputs, in the place of their values
  float* to[kMostRowValues];          ///< where a value is written; null: nowhere
};

/// Runs a row program on FP32 arrays (kernels/row_program.h), interpreted. Without sums along rows each element is
/// computed by one thread from loads to stores; with them a block has a row, and goes over its inputs once for every
/// sum and once more for the results. Fails where the program has more values or instructions than above.
Launch run_row_program(const Limits& limits, const RowProgram& program,
                       std::span<const float* const> inputs, std::span<float* const> outputs,
                       std::uint64_t seed);

}  // namespace headway::kernels::cuda
