// SPDX-License-Identifier: MIT
#include "kernels/loops/loops.h"
#include "kernels/loops/vector_math.h"

// Compiled once per instruction set (see lanes.h): rows of softmax and layer normalisation.
namespace headway::kernels::HEADWAY_ISA {
namespace {

constexpr float kLowest = -3.4e38F;

}  // namespace

float row_largest(std::int64_t count, const float* a) {
  Vector largest = Vector{} + kLowest;
  std::int64_t i = 0;
  for (; i + kVectorFloats <= count; i += kVectorFloats) {
    const Vector x = load<Vector>(a + i);
    largest = x > largest ? x : largest;
  }
  const Vector x = load_part(a + i, count - i, kLowest);
  return largest_of(x > largest ? x : largest);
}

/// out = e^(a - shift); returns the sum.
float row_exp(std::int64_t count, const float* a, float shift, float* out) {
  Vector total{};
  std::int64_t i = 0;
  for (; i + kVectorFloats <= count; i += kVectorFloats) {
    const Vector e = exp_of(load<Vector>(a + i) - shift);
    store(out + i, e);
    total += e;
  }
  float sum = sum_of(total);
  if (i < count) {
    const Vector e = exp_of(load_part(a + i, count - i) - shift);
    store_part(out + i, e, count - i);
    for (std::int64_t k = 0; k < count - i; ++k) sum += e[k];
  }
  return sum;
}

float row_dot(std::int64_t count, const float* a, const float* b) {
  Vector total{};
  std::int64_t i = 0;
  for (; i + kVectorFloats <= count; i += kVectorFloats)
    total += load<Vector>(a + i) * load<Vector>(b + i);
  return sum_of(total + load_part(a + i, count - i) * load_part(b + i, count - i));
}

/// ds = p · (dp - shift): the gradient of softmax, row by row.
void softmax_backward_row(std::int64_t count, const float* p, const float* dp, float shift,
                          float* ds) {
  map(count, p, dp, ds, [=](Vector y, Vector dy) { return y * (dy - shift); });
}

/// sum (a - shift)².
float row_squares(std::int64_t count, const float* a, float shift) {
  Vector total{};
  std::int64_t i = 0;
  for (; i + kVectorFloats <= count; i += kVectorFloats) {
    const Vector d = load<Vector>(a + i) - shift;
    total += d * d;
  }
  const Vector d = load_part(a + i, count - i, shift) - shift;
  return sum_of(total + d * d);
}

/// y = (x - mean) · rstd · gamma + beta.
void layer_norm_row(std::int64_t count, const float* x, float mean, float rstd, const float* gamma,
                    const float* beta, float* y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = (x[i] - mean) * rstd * gamma[i] + beta[i];
}

/// sums = {sum of dy·gamma, sum of dy·gamma·x^}; dgamma += dy·x^, dbeta += dy.
void layer_norm_sums(std::int64_t count, const float* x, const float* dy, float mean, float rstd,
                     const float* gamma, float* dgamma, float* dbeta, float* sums) {
  Vector first{};
  Vector second{};
  auto step = [&](Vector value, Vector d, Vector g) {
    const Vector normal = (value - mean) * rstd;
    first += d * g;
    second += d * g * normal;
    return d * normal;
  };
  std::int64_t i = 0;
  for (; i + kVectorFloats <= count; i += kVectorFloats) {
    const Vector d = load<Vector>(dy + i);
    store(dgamma + i,
          load<Vector>(dgamma + i) + step(load<Vector>(x + i), d, load<Vector>(gamma + i)));
    store(dbeta + i, load<Vector>(dbeta + i) + d);
  }
  if (const std::int64_t left = count - i; left > 0) {
    const Vector d = load_part(dy + i, left);
    const Vector add = step(load_part(x + i, left), d, load_part(gamma + i, left));
    store_part(dgamma + i, load_part(dgamma + i, left) + add, left);
    store_part(dbeta + i, load_part(dbeta + i, left) + d, left);
  }
  sums[0] = sum_of(first);
  sums[1] = sum_of(second);
}

/// dx = rstd · (dy·gamma - a - x^·b) [+ more].
void layer_norm_backward_row(std::int64_t count, const float* x, const float* dy, const float* more,
                             float mean, float rstd, const float* gamma, float a, float b,
                             float* dx) {
  if (more) {
    for (std::int64_t i = 0; i < count; ++i)
      dx[i] = more[i] + rstd * (dy[i] * gamma[i] - a - (x[i] - mean) * rstd * b);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i)
    dx[i] = rstd * (dy[i] * gamma[i] - a - (x[i] - mean) * rstd * b);
}

void bias_gelu_row(std::int64_t count, const float* x, const float* bias, float* y) {
  map(count, x, bias, y, [](Vector v, Vector b) { return gelu_of(v + b); });
}

/// dx = dy · gelu'(x + bias); dbias += dx.
void bias_gelu_backward_row(std::int64_t count, const float* x, const float* bias, const float* dy,
                            float* dx, float* dbias) {
  std::int64_t i = 0;
  for (; i + kVectorFloats <= count; i += kVectorFloats) {
    const Vector d =
        load<Vector>(dy + i) * gelu_slope(load<Vector>(x + i) + load<Vector>(bias + i));
    store(dx + i, d);
    store(dbias + i, load<Vector>(dbias + i) + d);
  }
  if (const std::int64_t left = count - i; left > 0) {
    const Vector d =
        load_part(dy + i, left) * gelu_slope(load_part(x + i, left) + load_part(bias + i, left));
    store_part(dx + i, d, left);
    store_part(dbias + i, load_part(dbias + i, left) + d, left);
  }
}

}  // namespace headway::kernels::HEADWAY_ISA
