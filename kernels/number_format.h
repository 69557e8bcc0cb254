// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace headway::kernels {

/// Formats that a float can be rounded to while it is still stored as a float; operands of tensor
/// cores have these formats.
///   kTf32      8 exponent bits, 10 of mantissa
///   kBfloat16  8 and 7
///   kFloat16   5 and 10: overflow becomes infinity, below 2^-24 zero
/// Rounding is to nearest, ties to even; infinities and NaN stay.
enum class NumberFormat : std::uint8_t { kFloat32, kTf32, kBfloat16, kFloat16 };

/// Bits that a value of the format has in memory (TF32 exists in registers only).
constexpr int bits_of(NumberFormat format) {
  return format == NumberFormat::kBfloat16 || format == NumberFormat::kFloat16 ? 16 : 32;
}

}  // namespace headway::kernels
