// SPDX-License-Identifier: MIT
// The arithmetic of one element, for kernels and for the tests that compare it with double
// precision.
#pragma once

#ifndef __CUDACC_RTC__  // which has these functions built in
#include <cmath>
#include <cstdint>
#endif

#ifdef __CUDACC__
#define HEADWAY_BOTH __host__ __device__ __forceinline__
#else
#define HEADWAY_BOTH inline
#endif

namespace headway::kernels::cuda {

/// Product and sum, each rounded separately. A compiler may otherwise fuse both into one rounding;
/// what ranks send would then differ from the processor's bits.
HEADWAY_BOTH float times(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}
HEADWAY_BOTH float plus(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fadd_rn(a, b);
#else
  return a + b;
#endif
}

/// The bits of |x|. They have the order of magnitudes, with NaN as the largest.
HEADWAY_BOTH std::uint32_t magnitude_bits(float x) {
  union {
    float value;
    std::uint32_t bits;
  } u{x};
  return u.bits & 0x7FFFFFFFU;
}

/// One value of kernels/compress_int8/op.h.
HEADWAY_BOTH int nearest_int8(float wanted, float scale) {
  if (!(scale > 0)) return 0;
  float quotient = wanted / scale;
  if (!(fabsf(quotient) < 127.0F)) quotient = quotient > 0 ? 127.0F : quotient < 0 ? -127.0F : 0.0F;
  return static_cast<int>(roundf(quotient));
}

HEADWAY_BOTH float relu(float x) {
  return x > 0 ? x : 0.0F;  // NaN gives 0, as on the processor
}

HEADWAY_BOTH float sigmoid(float x) {
  return 1.0F / (1.0F + expf(-x));
}
/// GELU in its tanh form, x·sigmoid(2·sqrt(2/pi)·(x + 0.044715·x³)), and its slope. Sums of
/// products are written as explicit fused operations. If the compiler chose, each kernel would fuse
/// them differently, and the bits would differ from those of generated code (seen on an H100).
HEADWAY_BOTH float gelu_argument(float x) {
  return x * fmaf(x * x, 0.0713548163F, 1.5957691216F);
}
HEADWAY_BOTH float gelu(float x) {
  return x * sigmoid(gelu_argument(x));
}
HEADWAY_BOTH float gelu_slope(float x) {
  const float s = sigmoid(gelu_argument(x));
  // For large |x|, s·(1-s) is 0 and x² may be infinite: their product would be NaN.
  const float bend = s * (1.0F - s);
  return bend == 0 ? s : fmaf(x * bend, fmaf(x * x, 0.2140644490F, 1.5957691216F), s);
}

/// One unit of an LSTM layer (kernels/lstm/op.h).
struct LstmUnit {
  float i, f, g, o;  ///< gates after their functions
  float cell;
  float h;
};
/// Computes the unit from the arguments of the gates and the cell of the previous step.
HEADWAY_BOTH LstmUnit lstm_unit(float i, float f, float g, float o, float cell_before) {
  LstmUnit u{sigmoid(i), sigmoid(f), tanhf(g), sigmoid(o), 0, 0};
  u.cell = u.f * cell_before + u.i * u.g;
  u.h = u.o * tanhf(u.cell);
  return u;
}
/// Gradients of the gates' arguments from the gradient of h. `dcell` comes from the later step and
/// is passed on to the earlier one.
struct LstmGradient {
  float i, f, g, o;
};
HEADWAY_BOTH LstmGradient lstm_unit_gradient(const LstmUnit& u, float cell_before, float dh,
                                             float& dcell) {
  const float t = tanhf(u.cell);
  const float d = dcell + dh * u.o * (1.0F - t * t);
  dcell = d * u.f;
  return {d * u.g * u.i * (1.0F - u.i), d * cell_before * u.f * (1.0F - u.f),
          d * u.i * (1.0F - u.g * u.g), dh * t * u.o * (1.0F - u.o)};
}

/// Count, mean and sum of squared distances from it; Welford's update, Chan's combination.
struct Moments {
  float count = 0;
  float mean = 0;
  float squares = 0;

  HEADWAY_BOTH void add(float x) {
    count += 1;
    const float distance = x - mean;
    mean += distance / count;
    squares += distance * (x - mean);
  }
  HEADWAY_BOTH void add(const Moments& other) {
    const float all = count + other.count;
    if (!(all > 0)) return;
    const float distance = other.mean - mean;
    const float share = other.count / all;
    mean += distance * share;
    squares += other.squares + distance * distance * count * share;
    count = all;
  }
};

/// One element of SGD with momentum (kernels/sgd_momentum/op.h).
HEADWAY_BOTH void sgd_element(float rate, float momentum, float decay, float g, float& p,
                              float& v) {
  v = momentum * v + (g + decay * p);
  p -= rate * v;
}

/// The rates of Adam's step (kernels/adam/op.h); the corrections are those of this step.
struct AdamRates {
  float rate, beta1, beta2, epsilon, decay, correction1, correction2;
};
/// Updates the moments and returns m^ / (sqrt(v^) + epsilon).
HEADWAY_BOTH float adam_moments(const AdamRates& by, float g, float& m, float& v) {
  m = by.beta1 * m + (1.0F - by.beta1) * g;
  v = by.beta2 * v + (1.0F - by.beta2) * g * g;
  return m * by.correction1 / (sqrtf(v * by.correction2) + by.epsilon);
}
HEADWAY_BOTH void adam_element(const AdamRates& by, float g, float& p, float& m, float& v) {
  const float direction = adam_moments(by, g, m, v);
  p = p * (1.0F - by.rate * by.decay) - by.rate * direction;
}

/// Ratios of kernels/trust_ratio/op.h, from the squared norms of the parameter and of the direction
/// (LAMB) or gradient (LARS).
HEADWAY_BOTH float lamb_trust(double parameter_squares, double direction_squares) {
  if (!(parameter_squares > 0) || !(direction_squares > 0)) return 1;
  return static_cast<float>(sqrt(parameter_squares / direction_squares));
}
HEADWAY_BOTH float lars_trust(float trust, float decay, float gradient_scale,
                              double parameter_squares, double gradient_squares) {
  const double p = sqrt(parameter_squares);
  const double g = sqrt(gradient_squares) * gradient_scale;
  if (!(p > 0) || !(g > 0)) return trust;
  return static_cast<float>(trust * p / (g + decay * p));
}

/// Rounds a float to TF32 (10 bits of mantissa), ties to even.
HEADWAY_BOTH float round_to_tf32(float x) {
  union {
    float value;
    std::uint32_t bits;
  } u{x};
  const std::uint32_t size = u.bits & 0x7FFFFFFFU;
  if (size >= 0x7F800000U) return x;
  u.bits = ((size + 0xFFFU + ((size >> 13) & 1U)) & ~0x1FFFU) | (u.bits & 0x80000000U);
  return u.value;
}

/// Dropout's decision about an element, from Wellons' lowbias32 of its index and the key. The
/// processor's kernel decides the same way (kernels/loops/row_loops.cc).
HEADWAY_BOTH bool keeps(std::uint64_t index, std::uint32_t key, std::uint32_t limit) {
  std::uint32_t h = (static_cast<std::uint32_t>(index) ^
                     (static_cast<std::uint32_t>(index >> 32) * 0x9E3779B9U)) ^
                    key;
  h = (h ^ (h >> 16)) * 0x7FEB352DU;
  h = (h ^ (h >> 15)) * 0x846CA68BU;
  h ^= h >> 16;
  return (h >> 8) >= limit;
}

}  // namespace headway::kernels::cuda
