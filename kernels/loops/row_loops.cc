// SPDX-License-Identifier: MIT
#include "kernels/loops/loops.h"
#include "kernels/loops/vector_math.h"

// Compiled once per instruction set (see lanes.h): the instructions of row programs.
namespace headway::kernels::HEADWAY_ISA {

void row_unary(RowOp op, std::int64_t count, const float* a, float constant, float* out) {
  switch (op) {
    case RowOp::kScale:
      return map(count, a, out, [=](Vector x) { return x * constant; });
    case RowOp::kRelu:
      return map(count, a, out, [](Vector x) { return x > 0 ? x : Vector{}; });
    case RowOp::kGelu:
      return map(count, a, out, [](Vector x) { return gelu_of(x); });
    case RowOp::kTanh:
      return map(count, a, out, [](Vector x) { return sigmoid_of(x * 2) * 2 - 1; });
    case RowOp::kRsqrt:
      for (std::int64_t i = 0; i < count; ++i) out[i] = 1.0F / __builtin_sqrtf(a[i] + constant);
      return;
    default:
      __builtin_trap();  // other instructions have their own loops
  }
}

namespace {

template <class Second>
[[gnu::always_inline]] inline void two_operands(RowOp op, std::int64_t count, const float* a,
                                                float* out, const Second& run) {
  switch (op) {
    case RowOp::kAdd:
      return run(count, a, out, [](Vector x, Vector y) { return x + y; });
    case RowOp::kSubtract:
      return run(count, a, out, [](Vector x, Vector y) { return x - y; });
    case RowOp::kMultiply:
      return run(count, a, out, [](Vector x, Vector y) { return x * y; });
    case RowOp::kReluBackward:
      return run(count, a, out, [](Vector y, Vector dy) { return y > 0 ? dy : Vector{}; });
    case RowOp::kGeluBackward:
      return run(count, a, out, [](Vector x, Vector dy) { return dy * gelu_slope(x); });
    case RowOp::kTanhBackward:
      return run(count, a, out, [](Vector y, Vector dy) { return dy * (1.0F - y * y); });
    case RowOp::kRsqrtBackward:
      return run(count, a, out, [](Vector y, Vector dy) { return y * y * y * dy * -0.5F; });
    default:
      __builtin_trap();
  }
}

}  // namespace

void row_binary(RowOp op, std::int64_t count, const float* a, const float* b, float* out) {
  two_operands(op, count, a, out, [b](std::int64_t n, const float* x, float* y, const auto& f) {
    map(n, x, b, y, f);
  });
}

void row_binary_one(RowOp op, std::int64_t count, const float* a, float b, float* out) {
  two_operands(op, count, a, out, [b](std::int64_t n, const float* x, float* y, const auto& f) {
    map(n, x, y, [b, &f](Vector v) { return f(v, Vector{} + b); });
  });
}

float row_sum(std::int64_t count, const float* a) {
  Vector total{};
  std::int64_t i = 0;
  for (; i + kVectorFloats <= count; i += kVectorFloats) total += load<Vector>(a + i);
  return sum_of(total + load_part(a + i, count - i));
}

/// Uses an integer hash (Wellons' lowbias32) of the element's index and the key; all 32-bit, so
/// that it vectorises. In streams of more than 2^32 elements, the pattern repeats with another key.
void dropout(std::int64_t count, const float* a, std::uint32_t key, std::uint64_t first, float rate,
             float* out) {
  const float scale = 1.0F / (1.0F - rate);
  const auto limit = static_cast<std::uint32_t>(static_cast<double>(rate) * 16777216.0);
  const std::uint32_t base =
      static_cast<std::uint32_t>(first) ^ (static_cast<std::uint32_t>(first >> 32) * 0x9E3779B9U);
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint32_t h = (base + static_cast<std::uint32_t>(i)) ^ key;
    h = (h ^ (h >> 16)) * 0x7FEB352DU;
    h = (h ^ (h >> 15)) * 0x846CA68BU;
    h ^= h >> 16;
    const float kept = a[i] * scale;
    out[i] = (h >> 8) >= limit ? kept : 0.0F;
  }
}

void round_to(NumberFormat format, std::int64_t count, const float* from, float* to) {
  const int dropped = format == NumberFormat::kBfloat16 ? 16 : 13;
  const std::uint32_t half = (1U << (dropped - 1)) - 1;
  const std::uint32_t keep = ~((1U << dropped) - 1);
  const bool narrow = format == NumberFormat::kFloat16;
  if (format == NumberFormat::kFloat32) {
    if (from != to) __builtin_memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const float value = from[i];
    std::uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    const std::uint32_t size_bits = bits & 0x7FFFFFFFU;
    const std::uint32_t rounded_bits = (size_bits + half + ((size_bits >> dropped) & 1U)) & keep;
    float size;
    float rounded;
    __builtin_memcpy(&size, &size_bits, sizeof size);
    __builtin_memcpy(&rounded, &rounded_bits, sizeof rounded);
    // Below 2^-14 the spacing of FP16 is 2^-24, that of floats near 0.75; values above 65504
    // overflow.
    const float denormal = (size + 0.75F) - 0.75F;
    rounded = narrow && size < 6.103515625e-5F ? denormal : rounded;
    rounded = narrow && rounded > 65504.0F ? __builtin_inff() : rounded;
    std::uint32_t result;
    __builtin_memcpy(&result, &rounded, sizeof result);
    result = size_bits >= 0x7F800000U ? bits : result | (bits & 0x80000000U);
    __builtin_memcpy(to + i, &result, sizeof result);
  }
}

}  // namespace headway::kernels::HEADWAY_ISA
