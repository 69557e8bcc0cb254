// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/loops/lanes.h"

// Like lanes.h: only for the files that are compiled once per instruction set.
namespace headway::kernels::HEADWAY_ISA {
namespace {

using IntVector [[gnu::vector_size(32)]] = int;

/// e^x to 2 units in the last place. Below -87.3 the result would be a denormal, so the smallest
/// result is 1.2e-38. 2^n comes from the bits of n + 1.5·2^23, whose low bits are n.
[[gnu::always_inline]] inline Vector exp_of(Vector x) {
  constexpr float kMagic = 12582912.0F;
  const Vector low = Vector{} - 87.33F;
  const Vector high = Vector{} + 88.37F;
  x = x < low ? low : x;
  x = x > high ? high : x;
  const Vector shifted = x * 1.44269504F + kMagic;
  const Vector n = shifted - kMagic;
  const Vector r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  Vector p = r * 1.9875691500e-4F + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + (r + 1.0F);
  return p * (Vector)(((IntVector)shifted - 0x4B400000 + 127) << 23);
}

[[gnu::always_inline]] inline Vector sigmoid_of(Vector x) {
  return 1.0F / (exp_of(-x) + 1.0F);
}

/// 2·sqrt(2/pi)·(x + 0.044715·x³): gelu(x) = x·sigmoid of it (the tanh form of GELU).
[[gnu::always_inline]] inline Vector gelu_argument(Vector x) {
  return x * (x * x * 0.0713548163F + 1.5957691216F);
}
[[gnu::always_inline]] inline Vector gelu_of(Vector x) {
  return x * sigmoid_of(gelu_argument(x));
}
[[gnu::always_inline]] inline Vector gelu_slope(Vector x) {
  const Vector s = sigmoid_of(gelu_argument(x));
  return s + x * s * (1.0F - s) * (x * x * 0.2140644490F + 1.5957691216F);
}

[[gnu::always_inline]] inline float sum_of(Vector x) {
  float total = 0;
  for (int i = 0; i < kVectorFloats; ++i) total += x[i];
  return total;
}
[[gnu::always_inline]] inline float largest_of(Vector x) {
  float largest = x[0];
  for (int i = 1; i < kVectorFloats; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

/// The last `count` < kVectorFloats floats, padded with `fill`.
[[gnu::always_inline]] inline Vector load_part(const float* address, std::int64_t count,
                                               float fill = 0) {
  Vector value = Vector{} + fill;
  for (std::int64_t i = 0; i < count; ++i) value[i] = address[i];
  return value;
}
[[gnu::always_inline]] inline void store_part(float* address, Vector value, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) address[i] = value[i];
}

/// out[i] = f(a[i]) and out[i] = f(a[i], b[i]), by whole vectors and one padded remainder.
template <class F>
[[gnu::always_inline]] inline void map(std::int64_t count, const float* a, float* out, const F& f) {
  std::int64_t i = 0;
  for (; i + kVectorFloats <= count; i += kVectorFloats) store(out + i, f(load<Vector>(a + i)));
  if (i < count) store_part(out + i, f(load_part(a + i, count - i)), count - i);
}
template <class F>
[[gnu::always_inline]] inline void map(std::int64_t count, const float* a, const float* b,
                                       float* out, const F& f) {
  std::int64_t i = 0;
  for (; i + kVectorFloats <= count; i += kVectorFloats)
    store(out + i, f(load<Vector>(a + i), load<Vector>(b + i)));
  if (i < count)
    store_part(out + i, f(load_part(a + i, count - i), load_part(b + i, count - i)), count - i);
}

}  // namespace
}  // namespace headway::kernels::HEADWAY_ISA
