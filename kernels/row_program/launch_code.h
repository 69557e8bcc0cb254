// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>

#include "kernels/number_format.h"
#include "kernels/row_program/op.h"

namespace headway::kernels::cuda {

/// How a thread of generated code iterates over a program's elements.
struct RowCodePlan {
  /// Elements that it loads and stores at once.
  int pack = 1;
  /// Threads that share a row: a warp or a block; 0: there are no sums, and rows do not matter.
  int group = 0;
  /// Packs of a row that it keeps in registers from sum to sum; 0: it reads them again.
  int held = 0;
};
/// `aligned`: every address is a multiple of 16 bytes.
RowCodePlan plan_row_code(const RowProgram& program, bool aligned);

/// A row program as the text of one CUDA kernel of 256 threads per block, for NVRTC
/// (kernels/cuda/driver/nvrtc.h) with the headers of code_headers(). It is straight-line code with
/// values in registers; formats and the number of columns are constants in it. So programs that
/// differ only in rows, addresses or dropout's keys have the same text.
///
/// Its arithmetic is the interpreter's (row_arithmetic.cuh), with the same bits in programs without
/// sums along rows; sums are added in another order.
struct RowCode {
  std::string kernel;  ///< describes the operation and identifies the text
  std::string text;
};
/// `inputs`, `outputs`: formats in memory; never TF32. The kernel's parameter is a struct of the
/// number of rows (int64; for a flat program, of elements), the addresses of inputs and outputs,
/// and a uint32 key for every dropout, in the program's order.
RowCode row_code(const RowProgram& program, std::span<const NumberFormat> inputs,
                 std::span<const NumberFormat> outputs, const RowCodePlan& plan);

}  // namespace headway::kernels::cuda
