// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/quantise/op.h"

namespace headway::kernels::cuda {

/// The element type of an array that a product's epilogue reads or writes.
enum class Element : std::uint8_t { kNone, kFloat32, kFloat16, kBfloat16, kInt8, kInt32 };
constexpr Element element_of(NumberFormat format) {
  return format == NumberFormat::kFloat16    ? Element::kFloat16
         : format == NumberFormat::kBfloat16 ? Element::kBfloat16
                                             : Element::kFloat32;
}

struct QuantiseParameters {
  QuantiseShape shape;
  const void* from;
  std::int8_t* to;
};
/// See kernels/quantise/op.h.
Launch quantise(const Limits& limits, NumberFormat format, const QuantiseShape& shape,
                const void* from, std::int8_t* to);

struct EpilogueArrays {
  const void* x = nullptr;
  Element x_type = Element::kFloat32;
  const float* factors = nullptr;  ///< [columns]; null: 1
  const float* bias = nullptr;     ///< [columns]
  const void* residual = nullptr;  ///< null: none
  Element residual_type = Element::kNone;
  void* y = nullptr;  ///< may be x, of the same type
  Element y_type = Element::kFloat32;
};
struct EpilogueParameters {
  ProductEpilogue shape;
  EpilogueArrays arrays;
};
/// See ProductEpilogue of kernels/quantise/op.h.
Launch product_epilogue(const Limits& limits, const ProductEpilogue& shape,
                        const EpilogueArrays& arrays);

}  // namespace headway::kernels::cuda
