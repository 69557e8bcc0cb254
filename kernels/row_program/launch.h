// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "kernels/cuda/launch.h"
#include "kernels/row_program/op.h"

namespace headway::kernels::cuda {

/// Largest number of values of a program: the capacity of a thread and of the parameters.
inline constexpr int kMostRowValues = 96;
inline constexpr int kMostRowInstructions = 64;

struct DeviceRowInstruction {
  float constant;
  std::uint32_t key;    ///< dropout: key of the run
  std::uint32_t limit;  ///< dropout: elements whose hash is below it are dropped
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
  NumberFormat formats[kMostRowValues];  ///< of values in memory
  DeviceRowInstruction code[kMostRowInstructions];
  const void* from[kMostRowValues];  ///< inputs, at the index of their values
  void* to[kMostRowValues];          ///< where a value is written; null: nowhere
};

/// An operand in memory, of any format but TF32.
struct RowArray {
  void* address = nullptr;
  NumberFormat format = NumberFormat::kFloat32;
};

/// Interpreted: one kernel for all programs, which keeps a program's values in local memory; a
/// program with more values or instructions than above is refused. Generated: a kernel for this
/// program (launch_code.h), which the library compiles when the launch first runs.
enum class RowVariant { kInterpreted, kGenerated };

/// Runs a row program (kernels/row_program/op.h), in FP32 between loads and stores. Without sums
/// along rows, one thread computes each element from loads to stores. With sums, a block
/// (generated: a block or a warp) has a row. It reads its inputs once for every sum and once more
/// for the results. Generated code reads them once for every set of independent sums, and keeps
/// inputs that it needs again in registers where they fit.
Launch run_row_program(const Limits& limits, const RowProgram& program,
                       std::span<const RowArray> inputs, std::span<const RowArray> outputs,
                       std::uint64_t seed, RowVariant variant = RowVariant::kInterpreted);
/// Changes the seed of a launch of that program, in place.
void set_row_program_seed(Launch& launch, const RowProgram& program, std::uint64_t seed);

}  // namespace headway::kernels::cuda
