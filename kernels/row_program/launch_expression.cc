// SPDX-License-Identifier: MIT
#include "kernels/row_program/launch_expression.h"

#include <fmt/format.h>

#include <cmath>

#include "kernels/cuda/launch.h"
#include "kernels/row_program/launch_structure.h"

namespace headway::kernels::cuda {

std::string literal(float value) {
  require(std::isfinite(value), "row_program", "a constant of generated code must be finite");
  return fmt::format("{:a}F", value);
}

const char* type_of(NumberFormat format) {
  return format == NumberFormat::kFloat16    ? "__half"
         : format == NumberFormat::kBfloat16 ? "__nv_bfloat16"
                                             : "float";
}

const char* word_of(RowOp op) {
  switch (op) {
    case RowOp::kAdd:
      return "add";
    case RowOp::kSubtract:
      return "subtract";
    case RowOp::kMultiply:
      return "multiply";
    case RowOp::kScale:
      return "scale";
    case RowOp::kRelu:
      return "relu";
    case RowOp::kReluBackward:
      return "relu_backward";
    case RowOp::kGelu:
      return "gelu";
    case RowOp::kGeluBackward:
      return "gelu_backward";
    case RowOp::kTanh:
      return "tanh";
    case RowOp::kTanhBackward:
      return "tanh_backward";
    case RowOp::kDropout:
      return "dropout";
    case RowOp::kRsqrt:
      return "rsqrt";
    case RowOp::kRsqrtBackward:
      return "rsqrt_backward";
    case RowOp::kRowMean:
      return "mean";
    case RowOp::kRowSum:
      return "sum";
    case RowOp::kSpread:
      return "spread";
    case RowOp::kRound:
      return "round";
  }
  return "";
}

std::string row_expression(const RowInstruction& by, std::size_t value, const char* element) {
  const std::string a = fmt::format("v{}", by.a);
  const std::string b = fmt::format("v{}", by.b);
  switch (by.op) {
    case RowOp::kScale:
    case RowOp::kSpread:
      return fmt::format("row_multiply({}, {})", literal(by.constant), a);
    case RowOp::kRelu:
    case RowOp::kGelu:
      return fmt::format("{}({})", word_of(by.op), a);
    case RowOp::kTanh:
      return fmt::format("tanhf({})", a);
    case RowOp::kRsqrt:
      return fmt::format("row_rsqrt({}, {})", a, literal(by.constant));
    case RowOp::kDropout: {
      const DropoutConstants constants = dropout_constants(by);
      return fmt::format("row_dropout({}, {}, a.key{}, {}U, {})", a, element, value,
                         constants.limit, literal(constants.scale));
    }
    case RowOp::kRound:
      if (by.format == NumberFormat::kTf32) return fmt::format("round_to_tf32({})", a);
      return fmt::format("row_round<{}>({})", type_of(by.format), a);
    default:
      return fmt::format("row_{}({}, {})", word_of(by.op), a, b);
  }
}

}  // namespace headway::kernels::cuda
