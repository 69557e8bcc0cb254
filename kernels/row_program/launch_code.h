// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>

#include "kernels/number_format.h"
#include "kernels/row_program/op.h"

namespace headway::kernels::cuda {

/// How a thread of generated code goes over a program's elements.
struct RowCodePlan {
  /// Elements that it loads and stores at once.
  int pack = 1;
  /// Threads that share a row, a warp or a block; 0: there are no sums, and rows are of no concern.
  int group = 0;
  /// Packs of a row that it keeps in registers from sum to sum; 0: it reads them again.
  int held = 0;
};
/// `aligned`: every address is a multiple of 16 bytes.
RowCodePlan plan_row_code(const RowProgram& program, bool aligned);

/// A row program as the text of one CUDA kernel of 256 threads a block, for NVRTC (kernels/cuda/driver/nvrtc.h) with the headers of
/// code_headers(): straight-line code, values in registers, formats and the number of columns written into it, so that
/// programs that differ in rows, addresses or dropout's keys alone have the same text.
///
/// Its arithmetic is the interpreter's (row_arithmetic.cuh), with the same bits in programs without sums along rows;
/// those sums are added in another order.
struct RowCode {
  std::string kernel;  ///< says what it does, and which text it is of
  std::string text;
};
/// `inputs`, `outputs`: how they lie in memory; never TF32. The kernel's parameter is a struct of the rows (int64; of a flat
/// program, the elements), the addresses of inputs and outputs, and a uint32 key for every dropout, in the program's order.
RowCode row_code(const RowProgram& program, std::span<const NumberFormat> inputs,
                 std::span<const NumberFormat> outputs, const RowCodePlan& plan);

}  // namespace headway::kernels::cuda
