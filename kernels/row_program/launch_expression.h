// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "kernels/number_format.h"
#include "kernels/row_program/op.h"

namespace headway::kernels::cuda {

/// Pieces of generated code (launch_code.h).
/// "__half": the type of an array's elements.
const char* type_of(NumberFormat format);
/// "gelu_backward"
const char* word_of(RowOp op);
/// The number exactly, as a literal. Fails unless it is finite.
std::string literal(float value);
/// The expression of an instruction that is not a sum, with the functions of row_arithmetic.cuh.
/// Operands are named v and their number. `value` is the number of the result; `element` is the
/// text of an element's index, for dropout.
std::string row_expression(const RowInstruction& by, std::size_t value, const char* element);

}  // namespace headway::kernels::cuda
