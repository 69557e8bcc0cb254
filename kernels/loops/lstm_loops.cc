// SPDX-License-Identifier: MIT
#include "kernels/loops/loops.h"
#include "kernels/loops/vector_math.h"

// Compiled once per instruction set (see lanes.h): the cells of an LSTM.
namespace headway::kernels::HEADWAY_ISA {
namespace {

[[gnu::always_inline]] inline Vector tanh_of(Vector x) {
  return sigmoid_of(x * 2) * 2 - 1;
}

/// Calls body(i, load, store) for whole vectors and one padded remainder of n elements.
template <class Body>
[[gnu::always_inline]] inline void for_vectors(std::int64_t n, const Body& body) {
  std::int64_t i = 0;
  for (; i + kVectorFloats <= n; i += kVectorFloats)
    body(
        i, [](const float* p) { return load<Vector>(p); }, [](float* p, Vector v) { store(p, v); });
  if (i < n)
    body(
        i, [left = n - i](const float* p) { return load_part(p, left); },
        [left = n - i](float* p, Vector v) { store_part(p, v, left); });
}

}  // namespace

/// gates [i, f, g, o][n]: sums on entry, activations on return. `before` may be null, which means
/// 0.
void lstm_cell(std::int64_t n, float* gates, const float* before, float* cell, float* h) {
  for_vectors(n, [=](std::int64_t at, const auto& get, const auto& put) {
    const Vector i = sigmoid_of(get(gates + at));
    const Vector f = sigmoid_of(get(gates + n + at));
    const Vector g = tanh_of(get(gates + 2 * n + at));
    const Vector o = sigmoid_of(get(gates + 3 * n + at));
    const Vector c = before ? f * get(before + at) + i * g : i * g;
    put(gates + at, i);
    put(gates + n + at, f);
    put(gates + 2 * n + at, g);
    put(gates + 3 * n + at, o);
    put(cell + at, c);
    put(h + at, o * tanh_of(c));
  });
}

/// Computes dgates from dh + dh_later and dcell; dcell becomes that of the step before.
void lstm_cell_backward(std::int64_t n, const float* gates, const float* before, const float* cell,
                        const float* dh, const float* dh_later, float* dcell, float* dgates) {
  for_vectors(n, [=](std::int64_t at, const auto& get, const auto& put) {
    const Vector i = get(gates + at);
    const Vector f = get(gates + n + at);
    const Vector g = get(gates + 2 * n + at);
    const Vector o = get(gates + 3 * n + at);
    const Vector t = tanh_of(get(cell + at));
    const Vector d = get(dh + at) + get(dh_later + at);
    const Vector dc = get(dcell + at) + d * o * (1.0F - t * t);
    put(dgates + at, dc * g * i * (1.0F - i));
    put(dgates + n + at, before ? dc * get(before + at) * f * (1.0F - f) : Vector{});
    put(dgates + 2 * n + at, dc * i * (1.0F - g * g));
    put(dgates + 3 * n + at, d * t * o * (1.0F - o));
    put(dcell + at, dc * f);
  });
}

}  // namespace headway::kernels::HEADWAY_ISA
