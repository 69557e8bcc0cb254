// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/number_format.h"

namespace headway::kernels {

// 16-bit floating-point values as bit patterns, because not every compiler has types for them.
// Narrowing rounds to nearest even; values that are too large become infinity, NaN stays NaN, as in
// hardware.

/// IEEE 754 binary16.
constexpr std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude >= 0x7F800000)  // infinity, or not a number
    return static_cast<std::uint16_t>(sign | 0x7C00 | (magnitude > 0x7F800000 ? 0x200 : 0));
  if (magnitude >= 0x477FF000) return static_cast<std::uint16_t>(sign | 0x7C00);
  if (magnitude < 0x38800000) {  // subnormal: let the addition round
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000 + 0xFFF + odd) >> 13));
}

constexpr float from_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1F;
  const std::uint32_t mantissa = half & 0x3FF;
  if (exponent == 0) {
    const float value = static_cast<float>(mantissa) * 0x1p-24F;
    return sign ? -value : value;
  }
  const std::uint32_t wide = exponent == 31 ? 0xFF : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (mantissa << 13));
}

/// The upper half of a float.
constexpr std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

constexpr float from_bfloat16(std::uint16_t upper) {
  return std::bit_cast<float>(std::uint32_t{upper} << 16);
}

/// Converts by format, which must have 16 bits.
constexpr std::uint16_t to_16_bits(NumberFormat format, float value) {
  return format == NumberFormat::kFloat16 ? to_half(value) : to_bfloat16(value);
}
constexpr float from_16_bits(NumberFormat format, std::uint16_t bits) {
  return format == NumberFormat::kFloat16 ? from_half(bits) : from_bfloat16(bits);
}

}  // namespace headway::kernels
