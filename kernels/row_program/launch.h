// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "kernels/cuda/launch.h"
#include "kernels/row_program/op.h"

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
  NumberFormat formats[kMostRowValues];  ///< of those in memory
  DeviceRowInstruction code[kMostRowInstructions];
  const void* from[kMostRowValues];  ///< inputs, in the place of their values
  void* to[kMostRowValues];          ///< where a value is written; null: nowhere
};

/// An operand in memory, of any format but TF32.
struct RowArray {
  void* address = nullptr;
  NumberFormat format = NumberFormat::kFloat32;
};

/// Interpreted: one kernel for all programs, which keeps a program's values in local memory; a program with more values or
/// instructions than above is refused. Generated: a kernel for this program (launch_code.h), which the library compiles when the launch
/// is first run.
enum class RowVariant { kInterpreted, kGenerated };

/// Runs a row program (kernels/row_program/op.h), in FP32 between loads and stores. Without sums along rows each element is computed
/// by one thread from loads to stores. With them a block has a row (generated: or a warp) and goes over its inputs once for every
/// sum (generated: for every set of sums that do not need one another, and keeps in registers what it needs again, where it fits)
/// and once more for the results.
Launch run_row_program(const Limits& limits, const RowProgram& program,
                       std::span<const RowArray> inputs, std::span<const RowArray> outputs,
                       std::uint64_t seed, RowVariant variant = RowVariant::kInterpreted);
/// Changes the seed of a launch of that program, in place.
void set_row_program_seed(Launch& launch, const RowProgram& program, std::uint64_t seed);

}  // namespace headway::kernels::cuda
