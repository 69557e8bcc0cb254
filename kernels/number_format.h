// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// Formats that a float can be rounded to while it stays a float: what the operands of a tensor
/// core hold.
///   kTf32      8 exponent bits, 10 of mantissa
///   kBfloat16  8 and 7
///   kFloat16   5 and 10: overflow becomes infinity, below 2^-24 zero
/// Rounding is to nearest, ties to even; infinities and NaN stay.
enum class NumberFormat : std::uint8_t { kFloat32, kTf32, kBfloat16, kFloat16 };

/// Bits that a value of the format has in memory (TF32 exists in registers only).
constexpr int bits_of(NumberFormat format) {
  return format == NumberFormat::kBfloat16 || format == NumberFormat::kFloat16 ? 16 : 32;
}

/// to[i] = from[i] rounded; the two may be the same array.
void round_to(NumberFormat format, std::int64_t count, const float* from, float* to);
constexpr Work round_to_work(std::int64_t count) {
  return {count, 8 * count};
}

namespace reference {
/// By arithmetic on the value instead of on its bits.
float round_to(NumberFormat format, float value);
}  // namespace reference

}  // namespace headway::kernels
